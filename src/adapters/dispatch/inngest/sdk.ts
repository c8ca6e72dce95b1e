/**
 * The part of Inngest's SDK, version 4 or later, that we call. The user hands the real one in, so that we need not depend on it.
 *
 * Owns these shapes only.
 */
export interface InngestEvent {
  readonly name: string
  readonly data: Readonly<Record<string, unknown>>
  /** When the function is to run; in the past: now. */
  readonly ts: number
}

export interface InngestFunctionOptions {
  readonly id: string
  readonly name: string
  readonly triggers: { readonly event: string }[]
  readonly retries: 2
}

/** What `new Inngest({ id, … })` is to us. */
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
  /** What `createFunction` gave. Of no type that we know, so of one that fits any. */
  functions: never[]
}) => (request: Request) => Promise<Response>
