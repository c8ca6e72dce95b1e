/** One change of the schema, forward only, with both dialects side by side so that neither is forgotten. */
export interface Migration {
  readonly version: number
  readonly name: string
  /** An older trihand that lacks this migration must not open the ledger. */
  readonly breaking: boolean
  readonly sqlite: string
  readonly postgres: string
}
