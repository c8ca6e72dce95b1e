/**
 * 41 ways in which a model, its server or the network between misbehaves, each with the expected end of its run.
 *
 * Owns the list. Differences between the two protocols are noted with each way.
 */
import { gzipSync } from 'node:zlib'
import type { AgentOptions } from '#model/agent/source.ts'
import type { Json } from '#model/kernel/json.ts'
import {
  type Act,
  type Exchange,
  framesOf,
  inTurn,
  PAGE,
  type Protocol,
  refuses,
  type Said,
  says,
  sends,
} from './model-provider.ts'

export interface End {
  readonly status: 'success' | 'partial' | 'failed'
  readonly output?: Json
  readonly code?: string
  /** The pattern of the error's message. */
  readonly says?: RegExp
  readonly calls: number
  /** The known cost in micro-dollars, or a condition for it. */
  readonly micros: number | ((micros: number) => boolean)
  /** The number of calls with an unknown cost. */
  readonly unknown?: number
}

export interface Way {
  readonly name: string
  readonly act: Act
  readonly ends: End | Readonly<Record<Protocol, End>>
  readonly options?: AgentOptions
}

/** The cost of 100 input tokens at 1 and 20 output tokens at 5. */
const ONE = 200
const JSON_TYPE = { 'content-type': 'application/json' }
const EVENTS = { 'content-type': 'text/event-stream' }
const SCHEMA = { type: 'object', properties: { n: { type: 'number' } }, required: ['n'] }
const N: AgentOptions = { outputSchema: SCHEMA }
const SOON: AgentOptions = { limits: { timeout: '2s' } }
const LONG = 'word '.repeat(20_000)

const fine = (calls: number, micros: End['micros'], unknown = 0, output: Json = 'Fine.'): End => ({
  ...{ status: 'success', output, calls, micros, unknown },
})
const ends = (code: string, says: RegExp, calls: number, micros: End['micros'] = 0, unknown = 0): End => ({
  ...{ status: 'failed', code, says, calls, micros, unknown },
})

const good = says('Fine.')
const look = (input: Json, id?: string) => ({ name: 'look', input, ...(id === undefined ? {} : { id }) })
const calls = (...list: NonNullable<Said['calls']>): Act => says({ calls: list })

/** Sends the frames of an answer by hand. */
const framed =
  (said: Said | string, send: (frames: readonly string[], exchange: Exchange) => void): Act =>
  (exchange) => {
    exchange.response.writeHead(200, EVENTS)
    send(framesOf(exchange, typeof said === 'string' ? { text: said } : said), exchange)
  }

const half = (frames: readonly string[]): string => frames.slice(0, Math.ceil(frames.length / 2)).join('')

/** Sends one byte of an answer at a time, forever. */
const drip: Act = framed(LONG, (frames, { response }) => {
  const bytes = Buffer.from(frames.join(''))
  let at = 0
  const timer = setInterval(() => response.write(bytes.subarray(at, ++at)), 20)
  response.on('close', () => clearInterval(timer))
})

/** Sends more and more of an answer until the client disconnects. */
const endless: Act = framed(LONG, (frames, { response }) => {
  const piece = frames.slice(0, -3).at(-1) ?? ''
  const many = piece.repeat(Math.ceil(1_000_000 / piece.length))
  const write = (): void => {
    if (response.destroyed) return
    if (response.write(many)) setImmediate(write)
    else response.once('drain', write)
  }
  response.write(frames.slice(0, 2).join(''))
  write()
})

/** An error after the answer has begun. */
const errorInside: Act = framed('Fine.', (frames, { protocol, response }) => {
  const error = { type: 'overloaded_error', message: 'too many at once' }
  const event = protocol === 'anthropic' ? `event: error\ndata: ${JSON.stringify({ type: 'error', error })}\n\n` : ''
  response.end(half(frames) + (event || `data: ${JSON.stringify({ error })}\n\n`))
})

const usage =
  (anthropic: Record<string, Json>, openai: Record<string, Json>): Act =>
  (exchange) =>
    says({ text: 'Fine.', usage: exchange.protocol === 'anthropic' ? anthropic : openai })(exchange)
const tokens = (input: Json, output: Json): Act =>
  usage(
    { input_tokens: input, output_tokens: output },
    { prompt_tokens: input, completion_tokens: output, total_tokens: 120 },
  )

const stops =
  (anthropic: string, openai: string, text = 'Fine.'): Act =>
  (exchange) =>
    says({ text, stop: exchange.protocol === 'anthropic' ? anthropic : openai })(exchange)

const isEstimate = (micros: number): boolean => micros > 0 && micros < 5_000

export const WAYS: readonly Way[] = [
  // -- refused ----------------------------------------------------------------------------------------------------------
  { name: 'refuses a request as bad', act: refuses(400), ends: ends('MODEL_REJECTED', /400/, 1) },
  { name: 'refuses the key', act: refuses(401), ends: ends('MODEL_AUTH', /401/, 1) },
  { name: 'does not know the model', act: refuses(404), ends: ends('MODEL_NOT_FOUND', /404/, 1) },
  {
    name: 'finds the conversation too long',
    act: refuses(400, 'prompt is too long: 210000 tokens > 200000 maximum'),
    ends: ends('MODEL_CONTEXT_FULL', /too long/, 1),
  },
  { name: 'is asked too often, and does not say for how long', act: inTurn(refuses(429), good), ends: fine(2, ONE) },
  {
    name: 'is asked too often, and says for how long',
    act: inTurn(refuses(429, 'slow down', { 'retry-after': '1' }), good),
    ends: fine(2, ONE),
  },
  {
    name: 'wants an hour of peace',
    act: refuses(429, 'later', { 'retry-after': '3600' }),
    ends: fine(1, ONE),
    options: { fallbackModels: ['spare'] },
  },
  { name: 'is away', act: refuses(503), ends: ends('MODEL_UNAVAILABLE', /503/, 2) },
  // -- no answer of a model -----------------------------------------------------------------------------------------------
  {
    name: 'is a web page',
    act: sends(200, { 'content-type': 'text/html' }, PAGE),
    ends: ends('MODEL_BAD_RESPONSE', /answered with a web page instead of a model answer/, 2, 0, 2),
  },
  {
    name: 'answers with nothing',
    act: sends(204, {}),
    ends: ends('MODEL_BAD_RESPONSE', /204 without any content/, 2, 0, 2),
  },
  {
    name: 'points elsewhere',
    act: sends(302, { location: 'http://127.0.0.1:9/v1' }),
    ends: ends('MODEL_NOT_FOUND', /points to http:\/\/127\.0\.0\.1:9\/v1; give the right base_url/, 1),
  },
  {
    name: 'answers in one piece where a stream was asked for',
    act: sends(200, JSON_TYPE, '{"error":{"message":"streams are not supported"}}'),
    ends: ends('MODEL_BAD_RESPONSE', /instead of a stream of events: .*streams are not supported/, 2, 0, 2),
  },
  {
    name: 'streams what is no JSON',
    act: framed('Fine.', (frames, { response }) => response.end(`${half(frames)}data: {"broken\n\n`)),
    ends: ends('MODEL_BAD_RESPONSE', /a part of the answer is not JSON: \{"broken/, 2, 0, 2),
  },
  {
    name: 'says that it packs its answer, and does not',
    act: sends(200, { ...EVENTS, 'content-encoding': 'gzip' }, 'data: plain\n\n'),
    ends: ends('MODEL_BAD_RESPONSE', /marks its answer as compressed with gzip, but it is not/, 2, 0, 2),
  },
  // -- broken off -----------------------------------------------------------------------------------------------------------
  {
    name: 'is cut off in the middle',
    act: framed(
      LONG,
      (frames, { response }) => void response.write(half(frames), () => response.socket?.resetAndDestroy()),
    ),
    ends: ends('MODEL_UNAVAILABLE', /was cut in the middle of the answer/, 2, 0, 2),
  },
  {
    name: 'ends early, and cleanly',
    act: framed(LONG, (frames, { response }) => void response.end(half(frames))),
    ends: ends('MODEL_UNAVAILABLE', /ended early: the provider did not mark it as complete/, 2, 0, 2),
  },
  {
    name: 'never begins',
    act: () => {},
    ends: ends('STEP_TIMEOUT', /did not finish its answer within/, 1, 0, 1),
    options: SOON,
  },
  {
    name: 'stops in the middle, and stays',
    act: framed(LONG, (frames, { response }) => void response.write(half(frames))),
    ends: ends('STEP_TIMEOUT', /did not finish its answer within/, 1, 0, 1),
    options: SOON,
  },
  { name: 'drips', act: drip, ends: ends('STEP_TIMEOUT', /did not finish its answer within/, 1, 0, 1), options: SOON },
  {
    name: 'never ends',
    act: endless,
    ends: ends('MODEL_BAD_RESPONSE', /has more than \d+ characters and was cut off/, 1, 0, 1),
    options: { limits: { maxRetries: 0 } },
  },
  { name: 'tells an error in the middle', act: inTurn(errorInside, good), ends: fine(2, ONE, 1) },
  // -- says nothing, or too much ----------------------------------------------------------------------------------------------
  { name: 'says nothing', act: says(' \n'), ends: ends('MODEL_BAD_RESPONSE', /the answer is empty/, 2, 2 * ONE) },
  {
    name: 'says very much',
    act: says(LONG),
    ends: { status: 'success', calls: 1, micros: (micros) => micros > 30_000 },
  },
  {
    name: 'says NUL and half a letter',
    act: says('a\u0000b\uD800c'),
    ends: { status: 'success', calls: 1, micros: ONE },
  },
  {
    name: 'ends for a reason of its own',
    act: stops('bananas', 'bananas'),
    ends: ends('MODEL_BAD_RESPONSE', /for an unknown reason: bananas/, 2, 2 * ONE),
  },
  {
    name: 'will not speak of it',
    act: stops('refusal', 'content_filter'),
    ends: ends('MODEL_FILTERED', /withheld the answer/, 1, ONE),
  },
  {
    name: 'uses all of its tokens before it says anything',
    act: stops('max_tokens', 'length', ''),
    ends: ends('OUTPUT_INVALID', /used all of max_tokens before it answered/, 1, ONE),
  },
  // -- what it used, and who it is ----------------------------------------------------------------------------------------------
  {
    name: 'does not say what it used',
    act: says({ text: 'Fine.', usage: null }),
    ends: {
      anthropic: ends('MODEL_BAD_RESPONSE', /does not say how many tokens it used/, 2, 0, 2),
      'openai-compatible': fine(1, isEstimate),
    },
  },
  { name: 'used less than nothing', act: tokens(-100, -20), ends: fine(1, isEstimate) },
  { name: 'used more than there is', act: tokens(1e15, 1e15), ends: fine(1, isEstimate) },
  {
    name: 'is another model',
    act: says({ text: 'Fine.', model: 'somebody-else' }),
    ends: ends('MODEL_NOT_ALLOWED', /somebody-else answered instead of/, 1, 0, 1),
  },
  // -- tools ----------------------------------------------------------------------------------------------------------------------
  {
    name: 'calls a tool that is none',
    act: inTurn(calls({ name: 'constructor', input: {} }), good),
    ends: fine(2, 2 * ONE),
  },
  { name: 'calls a tool with what is no JSON', act: inTurn(calls(look('{"n": 1')), good), ends: fine(2, 2 * ONE) },
  {
    name: 'calls several tools, one of them wrongly',
    act: inTurn(calls(look({ n: 1 }), look({ n: 'one' }), look({ n: 2 })), good),
    ends: fine(2, 2 * ONE),
  },
  {
    name: 'gives two calls one id',
    act: inTurn(calls(look({ n: 1 }, 'twice'), look({ n: 2 }, 'twice')), good),
    ends: fine(2, 2 * ONE),
  },
  {
    name: 'calls tools for ever',
    act: (exchange) => calls(look({ n: exchange.n }))(exchange),
    ends: ends('AGENT_MAX_TURNS', /no answer after 3 model calls/, 3, 3 * ONE),
    options: { limits: { maxTurns: 3 } },
  },
  // -- data -----------------------------------------------------------------------------------------------------------------------
  {
    name: 'puts its JSON into prose',
    act: says('Here:\n```json\n{"n": 7}\n```\nDone.'),
    ends: fine(1, ONE, 0, { n: 7 }),
    options: N,
  },
  {
    name: 'gives two answers in one',
    act: inTurn(says('Either {"n": 1} or {"n": 2}.'), says('{"n": 2}')),
    ends: fine(2, 2 * ONE, 0, { n: 2 }),
    options: N,
  },
  {
    name: 'is wrong twice',
    act: says('{"n": "seven"}'),
    ends: ends('OUTPUT_INVALID', /n: must be number/, 2, 2 * ONE),
    options: N,
  },
  {
    name: 'sends every event twice',
    act: inTurn(
      framed('{"n": 7}', (frames, { response }) => response.end(frames.flatMap((frame) => [frame, frame]).join(''))),
      says('{"n": 7}'),
    ),
    ends: fine(2, 2 * ONE, 0, { n: 7 }),
    options: N,
  },
  {
    name: 'begins with a mark of byte order, packed',
    act: ({ response, ...call }) => {
      const text = `\uFEFF${framesOf({ ...call }, { text: 'Fine.' }).join('')}`
      response.writeHead(200, { ...EVENTS, 'content-encoding': 'gzip' }).end(gzipSync(text))
    },
    ends: fine(1, ONE),
  },
]
