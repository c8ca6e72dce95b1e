/**
 * A model provider on 127.0.0.1 that can answer wrongly in every way: one server for both protocols, which the path distinguishes.
 *
 * Owns the form of a good answer in each protocol, and the count of calls by model. The test gives an act for each model, which sends whole
 * frames, half of them, or anything else that fits into a response.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import type { Json } from '#model/kernel/json.ts'

export const PROTOCOLS = ['anthropic', 'openai-compatible'] as const
export type Protocol = (typeof PROTOCOLS)[number]
export type Body = { readonly [key: string]: Json }

export interface ProviderCall {
  readonly protocol: Protocol
  readonly model: string
  /** The number of this call for this model, counted from 1. */
  readonly n: number
  readonly path: string
  readonly headers: IncomingMessage['headers']
  readonly body: Body
  /** How often the model had answered before. */
  readonly turn: number
}

export interface Exchange extends ProviderCall {
  readonly response: ServerResponse
}

export type Act = (exchange: Exchange) => void | Promise<void>

export interface Called {
  readonly name: string
  /** A text is sent unchanged, JSON or not. */
  readonly input: Json
  readonly id?: string
}

/** A good answer, with optional faults. */
export interface Said {
  readonly text?: string
  readonly calls?: readonly Called[]
  /** Null: the answer reports no usage. Default: 100 tokens in, 20 out. */
  readonly usage?: Body | null
  readonly model?: string
  /** The stop reason, in the protocol's spelling. */
  readonly stop?: string
}

export const USED = { input: 100, output: 20 } as const

const inputText = (input: Json): string => (typeof input === 'string' ? input : JSON.stringify(input))
const pieces = (text: string, size: number): readonly string[] =>
  Array.from({ length: Math.ceil(text.length / size) }, (_, i) => text.slice(i * size, (i + 1) * size))
const PIECE = 4_096

const event = (type: string, data: Body): string => `event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`
const data = (value: Json): string => `data: ${JSON.stringify(value)}\n\n`

const anthropicFrames = ({ body, n }: ProviderCall, said: Said): readonly string[] => {
  const { text = '', calls = [], usage } = said
  const reported = usage === undefined ? { input_tokens: USED.input, output_tokens: USED.output } : usage
  const blocks: readonly (readonly [Body, readonly Body[]])[] = [
    ...(text === ''
      ? []
      : [
          [
            { type: 'text', text: '' },
            pieces(text, PIECE).map((part) => ({ type: 'text_delta', text: part })),
          ] as const,
        ]),
    ...calls.map(
      ({ name, input, id }, i) =>
        [
          { type: 'tool_use', id: id ?? `toolu_${n}_${i}`, name, input: {} },
          pieces(inputText(input), PIECE).map((part) => ({ type: 'input_json_delta', partial_json: part })),
        ] as const,
    ),
  ]
  const message = { id: `msg_${n}`, type: 'message', role: 'assistant', model: said.model ?? body['model'] ?? null }
  const stop = said.stop ?? (calls.length > 0 ? 'tool_use' : 'end_turn')
  return [
    event('message_start', {
      message: {
        ...message,
        content: [],
        stop_reason: null,
        stop_sequence: null,
        ...(reported === null ? {} : { usage: reported }),
      },
    }),
    ...blocks.flatMap(([content_block, deltas], index) => [
      event('content_block_start', { index, content_block }),
      ...deltas.map((delta) => event('content_block_delta', { index, delta })),
      event('content_block_stop', { index }),
    ]),
    event('message_delta', {
      delta: { stop_reason: stop, stop_sequence: null },
      ...(reported === null ? {} : { usage: reported }),
    }),
    event('message_stop', {}),
  ]
}

const openaiUsage = (usage: Said['usage']): Body | null =>
  usage === undefined
    ? { prompt_tokens: USED.input, completion_tokens: USED.output, total_tokens: USED.input + USED.output }
    : usage

const openaiFrames = ({ body, n }: ProviderCall, said: Said): readonly string[] => {
  const { text = '', calls = [] } = said
  const usage = openaiUsage(said.usage)
  const head = { id: `chatcmpl-${n}`, created: 1_700_000_000, model: said.model ?? body['model'] ?? null }
  const chunk = (delta: Body, finish_reason: string | null): string =>
    data({ ...head, object: 'chat.completion.chunk', choices: [{ index: 0, delta, finish_reason }] })
  return [
    chunk({ role: 'assistant', content: '' }, null),
    ...pieces(text, PIECE).map((content) => chunk({ content }, null)),
    ...calls.flatMap(({ name, input, id }, index) => [
      chunk(
        {
          tool_calls: [{ index, id: id ?? `call_${n}_${index}`, type: 'function', function: { name, arguments: '' } }],
        },
        null,
      ),
      ...pieces(inputText(input), PIECE).map((part) =>
        chunk({ tool_calls: [{ index, function: { arguments: part } }] }, null),
      ),
    ]),
    chunk({}, said.stop ?? (calls.length > 0 ? 'tool_calls' : 'stop')),
    ...(usage === null ? [] : [data({ ...head, choices: [], usage })]),
    'data: [DONE]\n\n',
  ]
}

/** The events of a streamed answer. */
export const framesOf = (call: ProviderCall, said: Said): readonly string[] =>
  call.protocol === 'anthropic' ? anthropicFrames(call, said) : openaiFrames(call, said)

/** The same answer without streaming. */
const wholeOf = ({ protocol, body, n }: ProviderCall, { text = '', model, usage, stop }: Said): string => {
  const name = model ?? body['model'] ?? null
  if (protocol === 'anthropic') {
    const reported = usage === undefined ? { input_tokens: USED.input, output_tokens: USED.output } : usage
    const content = text === '' ? [] : [{ type: 'text', text }]
    const message = { id: `msg_${n}`, type: 'message', role: 'assistant', model: name, content }
    return JSON.stringify({
      ...message,
      stop_reason: stop ?? 'end_turn',
      stop_sequence: null,
      ...(reported && { usage: reported }),
    })
  }
  const reported = openaiUsage(usage)
  const choices = [{ index: 0, message: { role: 'assistant', content: text }, finish_reason: stop ?? 'stop' }]
  return JSON.stringify({
    id: `chatcmpl-${n}`,
    object: 'chat.completion',
    created: 1,
    model: name,
    choices,
    ...(reported && { usage: reported }),
  })
}

/** The behaviour of a good server. */
export const says =
  (said: Said | string): Act =>
  (exchange) => {
    const given = typeof said === 'string' ? { text: said } : said
    const isStream = exchange.body['stream'] === true
    exchange.response.writeHead(200, { 'content-type': isStream ? 'text/event-stream' : 'application/json' })
    exchange.response.end(isStream ? framesOf(exchange, given).join('') : wholeOf(exchange, given))
  }

/** Refuses with a status, in the protocol's form of an error. */
export const refuses =
  (status: number, message = `the provider says ${status}`, headers: Readonly<Record<string, string>> = {}): Act =>
  ({ response, protocol }) => {
    const error = { type: 'api_error', message }
    response.writeHead(status, { 'content-type': 'application/json', ...headers })
    response.end(
      JSON.stringify(protocol === 'anthropic' ? { type: 'error', error } : { error: { ...error, code: null } }),
    )
  }

/** Sends any response unchanged. */
export const sends =
  (status: number, headers: Readonly<Record<string, string>>, body: string | Uint8Array = ''): Act =>
  ({ response }) => {
    response.writeHead(status, headers).end(body)
  }

export const PAGE = '<!doctype html><html><head><title>Sign in</title></head><body>Please sign in</body></html>'

/** One act per call; the last one also for all later calls. */
export const inTurn =
  (...acts: readonly [Act, ...Act[]]): Act =>
  (exchange) =>
    (acts[exchange.n - 1] ?? (acts.at(-1) as Act))(exchange)

export interface Provider {
  /** The base URL for a client. */
  readonly url: string
  readonly calls: readonly ProviderCall[]
  callsOf(model: string): readonly ProviderCall[]
  close(): Promise<void>
}

const PATHS: Readonly<Record<string, Protocol>> = {
  '/v1/messages': 'anthropic',
  '/v1/chat/completions': 'openai-compatible',
}

const readBody = async (request: IncomingMessage): Promise<Body> => {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  const text = Buffer.concat(chunks).toString('utf8')
  return text === '' ? {} : JSON.parse(text)
}

const turnOf = (body: Body): number => {
  const messages = (body['messages'] ?? []) as readonly { readonly role: string }[]
  return messages.filter(({ role }) => role === 'assistant').length
}

/** `actFor` returns the act for a model's calls. */
export const startProvider = async (actFor: (model: string) => Act): Promise<Provider> => {
  const calls: ProviderCall[] = []
  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const path = request.url ?? '/'
    const protocol = PATHS[path]
    const body = await readBody(request)
    if (protocol === undefined) return void response.writeHead(404).end()
    const model = String(body['model'])
    const n = calls.filter((call) => call.model === model && call.protocol === protocol).length + 1
    const call = { protocol, model, n, path, headers: request.headers, body, turn: turnOf(body) }
    calls.push(call)
    await actFor(model)({ ...call, response })
  }
  const sockets = new Set<Socket>()
  const server = createServer((request, response) => {
    response.on('error', () => {})
    serve(request, response).catch(() => response.destroy())
  })
  server.on('connection', (socket) => {
    sockets.add(socket)
    socket.on('error', () => {})
    socket.on('close', () => sockets.delete(socket))
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    calls,
    callsOf: (model) => calls.filter((call) => call.model === model),
    close: () =>
      new Promise((done) => {
        server.close(() => done())
        for (const socket of sockets) socket.destroy()
      }),
  }
}
