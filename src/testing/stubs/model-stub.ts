/**
 * What the stubs of model providers share: a real HTTP server on 127.0.0.1, a count of calls, faults by call number.
 *
 * Owns the server and how an answer is cut off. What an answer looks like is up to the stub of each provider.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import type { Json } from '#model/kernel/json.ts'

/** A part of an answer. */
export type StubBlock =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'thinking'; readonly text: string; readonly signature: string }
  /** `input` given as text is sent as it is, JSON or not. */
  | { readonly type: 'call'; readonly name: string; readonly input: Json; readonly id?: string }

/** What fails, or differs, in one call. */
export type StubFault =
  /** Refused before the model began, so it costs nothing. */
  | {
      readonly kind: 'status'
      readonly status: number
      readonly message?: string
      /** The API's own name for the error. */
      readonly type?: string
      readonly retryAfter?: string
    }
  /** Never answers. */
  | { readonly kind: 'hang' }
  /** The connection is reset in the middle of the answer. */
  | { readonly kind: 'cut' }
  /** The answer stops in the middle, and the connection stays open. */
  | { readonly kind: 'stall' }
  /** The answer ends in the middle, with a clean end of the connection. */
  | { readonly kind: 'early-end' }
  | { readonly kind: 'bad-json' }
  /** Every tool call has the id of the first. */
  | { readonly kind: 'repeated-id' }
  | { readonly kind: 'no-usage' }
  | { readonly kind: 'wrong-usage'; readonly input: number; readonly output: number; readonly cached?: number }
  | { readonly kind: 'other-model'; readonly model: string }
  /** The answer begins with thinking. */
  | { readonly kind: 'thinking'; readonly text: string; readonly signature: string }
  | { readonly kind: 'finish'; readonly finish: 'length' | 'filtered' }

/** The body of a request to a model, as JSON. */
export type StubBody = { readonly [key: string]: Json }

/** What the stub answers: `{ script: (body, n) => [{ type: 'text', text: `answer ${n}` }] }`. */
export interface StubOptions {
  /** The answer to call number `n`, counted from 1. */
  readonly script: (body: StubBody, n: number) => readonly StubBlock[]
  /** The fault of call `n` is at index `n - 1`; null for none. */
  readonly faults?: readonly (StubFault | null)[]
  /** When it settles, call `n`, which has arrived, may be answered. */
  readonly pace?: (call: StubCall, n: number) => Promise<void>
}

/** A request that the stub has received. */
export interface StubCall {
  /** Its path. */
  readonly path: string
  /** Its headers. */
  readonly headers: Readonly<Record<string, string>>
  /** Its body. */
  readonly body: StubBody
}

/** A running stub. */
export interface ModelStub {
  /** The base URL for clients, with `/v1`. */
  readonly url: string
  /** Every call that asked for an answer, including refused ones: everything that left the process. */
  readonly calls: readonly StubCall[]
  /** Settles when call number `n` has arrived. */
  arrived(n: number): Promise<void>
  /** Ends it. */
  close(): Promise<void>
}

/** One answer in the provider's format: whole, or as events. */
export interface StubAnswer {
  readonly whole: string
  readonly events: readonly string[]
}

export interface StubDialect {
  readonly answer: (body: StubBody, blocks: readonly StubBlock[], n: number, fault: StubFault | null) => StubAnswer
  readonly error: (status: number, message: string, type: string | undefined) => Json
  /** True if this path asks for an answer. */
  readonly isPaid: (path: string) => boolean
  /** Answers other requests; null: 404. */
  readonly other: (path: string, body: StubBody) => Json | null
}

const readBody = async (request: IncomingMessage): Promise<StubBody> => {
  let text = ''
  for await (const chunk of request) text += chunk
  return text === '' ? {} : JSON.parse(text)
}

const respond = (response: ServerResponse, status: number, body: Json, headers: Record<string, string> = {}): void => {
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body))
}

const half = (text: string): string => text.slice(0, Math.ceil(text.length / 2))

/** Resets the connection after what was written has been sent. */
const cut = (response: ServerResponse, text: string): void => {
  response.write(text, () => response.socket?.resetAndDestroy())
}

const send = (response: ServerResponse, answer: StubAnswer, isStream: boolean, fault: StubFault | null): void => {
  response.writeHead(200, { 'content-type': isStream ? 'text/event-stream' : 'application/json' })
  const text = isStream ? answer.events.join('') : answer.whole
  const begun = isStream ? answer.events.slice(0, Math.ceil(answer.events.length / 2)).join('') : half(text)
  switch (fault?.kind) {
    case 'cut':
      return cut(response, begun)
    case 'stall':
      response.write(begun)
      return
    case 'early-end':
      response.end(begun)
      return
    case 'bad-json':
      response.end(isStream ? `${begun}data: {"broken\n\n` : '{"broken')
      return
    default:
      response.end(text)
  }
}

export const startModelStub = async (dialect: StubDialect, options: StubOptions): Promise<ModelStub> => {
  const calls: StubCall[] = []
  const waiting: { readonly n: number; readonly settle: () => void }[] = []
  const answerCall = async (call: StubCall, response: ServerResponse): Promise<void> => {
    const n = calls.push(call)
    const fault = options.faults?.[n - 1] ?? null
    for (const waiter of waiting) if (waiter.n <= n) waiter.settle()
    await options.pace?.(call, n)
    if (fault?.kind === 'hang') return
    if (fault?.kind === 'status') {
      const { status, message = `the stub says ${status}`, type, retryAfter } = fault
      const headers: Record<string, string> = retryAfter === undefined ? {} : { 'retry-after': retryAfter }
      return respond(response, status, dialect.error(status, message, type), headers)
    }
    const thinking = fault?.kind === 'thinking' ? [{ ...fault, type: 'thinking' as const }] : []
    const blocks = [...thinking, ...options.script(call.body, n)]
    send(response, dialect.answer(call.body, blocks, n, fault), call.body['stream'] === true, fault)
  }
  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const path = request.url?.split('?')[0] ?? '/'
    const body = await readBody(request)
    if (request.method === 'POST' && dialect.isPaid(path)) {
      return answerCall({ path, headers: request.headers as Record<string, string>, body }, response)
    }
    const other = dialect.other(path, body)
    if (other === null) respond(response, 404, dialect.error(404, `no such path: ${path}`, undefined))
    else respond(response, 200, other)
  }
  const sockets = new Set<Socket>()
  const server = createServer((request, response) => {
    serve(request, response).catch((error: unknown) => {
      respond(response, 500, dialect.error(500, `the stub failed: ${String(error)}`, undefined))
    })
  })
  server.on('connection', (socket) => {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}/v1`,
    calls,
    arrived: (n) =>
      new Promise((settle) => {
        if (calls.length >= n) settle()
        else waiting.push({ n, settle })
      }),
    close: () =>
      new Promise((done) => {
        server.close(() => done())
        for (const socket of sockets) socket.destroy()
      }),
  }
}

/** A rough count of tokens, the same for every stub. */
export const roughTokens = (text: string): number => Math.ceil(text.length / 4)

export const inputText = (input: Json): string => (typeof input === 'string' ? input : JSON.stringify(input))

/** Splits text into pieces, so that a stream has more than one. */
export const chunksOf = (text: string, size = 8): readonly string[] =>
  Array.from({ length: Math.ceil(text.length / size) }, (_, i) => text.slice(i * size, (i + 1) * size))

/** The id of the i-th call of answer n. */
export const callId = (block: { readonly id?: string }, n: number, i: number, fault: StubFault | null): string => {
  if (fault?.kind === 'repeated-id') return `call_${n}_0`
  return block.id ?? `call_${n}_${i}`
}
