/**
 * The part of Inngest's SDK, version 4 or later, that we call. The caller passes in the real one, so that we need not depend on it.
 *
 * Owns these shapes only.
 */
export interface InngestEvent {
  readonly name: string
  readonly data: Readonly<Record<string, unknown>>
  /** When the function runs; an instant in the past means now. */
  readonly ts: number
}

export interface InngestFunctionOptions {
  readonly id: string
  readonly name: string
  readonly triggers: { readonly event: string }[]
  readonly retries: 2
}

/** The members of `new Inngest({ id, … })` that we use. */
export interface InngestClient {
  send(events: InngestEvent[]): Promise<unknown>
  createFunction(
    options: InngestFunctionOptions,
    handler: (context: { readonly event: { readonly data?: unknown } }) => Promise<unknown>,
  ): unknown
}

/** `serve` of `inngest/edge`. */
export type InngestServe<Client> = (options: {
  client: Client
  /** What `createFunction` returned. We do not know its type; `never` is assignable to any. */
  functions: never[]
}) => (request: Request) => Promise<Response>
