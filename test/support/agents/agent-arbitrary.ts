/** Arbitrary facts of an agent, plausible and absurd, for tests that fold them in any order. */
import fc from 'fast-check'
import type { AgentCall, AgentFact, Reply, ToolOutcome } from '#model/agent/state.ts'
import type { ErrorCode } from '#model/kernel/errors.ts'

export const aReply = (given: Partial<Reply> = {}): Reply => ({
  model: 'first',
  provider: 'stub',
  modelUsed: 'stub-1',
  parts: [{ type: 'text', text: 'done' }],
  calls: [],
  finish: 'stop',
  usage: { input: 10, output: 5, cachedInput: 0, cacheWrites: 0, reasoning: 0 },
  usageSource: 'reported',
  cost: { micros: 7, model: 'stub-1', source: 'test', approximate: false },
  findings: [],
  check: null,
  isSimulated: true,
  responseId: null,
  ms: 1,
  ...given,
})

export const anOutcome = (given: Partial<ToolOutcome> = {}): ToolOutcome => ({
  output: 'ok',
  error: null,
  denied: null,
  files: [],
  untrusted: false,
  spent: null,
  ms: 1,
  ...given,
})

const n = fc.nat(4)
const key = fc.tuple(n, fc.nat(3)).map(([reply, i]) => `${reply}.${i}`)
const code = fc.constantFrom<ErrorCode>(
  'TOOL_FAILED',
  'TOOL_NOT_ALLOWED',
  'RATE_LIMITED',
  'MODEL_AUTH',
  'MODEL_REJECTED',
)
const call = fc.record({ tool: fc.constantFrom('Read', 'send', 'nothing'), input: fc.jsonValue({ maxDepth: 1 }) })

const reply = (at: number): fc.Arbitrary<Reply> =>
  fc
    .record({
      calls: fc.array(call, { maxLength: 4 }),
      finish: fc.constantFrom('stop', 'tools', 'length', 'filtered'),
      check: fc.constantFrom(
        null,
        { ok: true, value: { a: 1 } } as const,
        { ok: false, issues: ['/a: missing'] } as const,
      ),
      provider: fc.constantFrom('stub', 'other'),
    })
    .map(({ calls, ...rest }) =>
      aReply({ ...rest, calls: calls.map((one, i) => ({ ...one, key: `${at}.${i}` }) as AgentCall) }),
    )

const outcome = fc
  .record({
    error: fc.option(code.map((given) => ({ code: given, message: 'no' }))),
    denied: fc.option(fc.constant('not today')),
    untrusted: fc.boolean(),
    files: fc.array(
      fc.constantFrom('a', 'b').map((path) => ({ path, hash: path, bytes: 1, encoding: 'utf8' as const })),
    ),
  })
  .map(anOutcome)

/** Any fact; `n` and keys are small so that facts relate to each other. */
export const anyFact: fc.Arbitrary<AgentFact> = fc.oneof(
  fc.record({ type: fc.constant('hydrated' as const), files: fc.constant([]), untrusted: fc.boolean(), ms: fc.nat(9) }),
  fc.record({
    type: fc.constant('reserved' as const),
    n,
    attempt: fc.integer({ min: 1, max: 3 }),
    reservation: fc.record({ tokens: fc.nat(99), micros: fc.nat(99), maxOutputTokens: fc.nat(99) }),
  }),
  n.chain((at) =>
    fc.record({ type: fc.constant('replied' as const), n: fc.constant(at), attempt: fc.constant(1), reply: reply(at) }),
  ),
  fc.record({
    type: fc.constant('call_failed' as const),
    n,
    attempt: fc.integer({ min: 1, max: 3 }),
    failure: fc.oneof(
      fc.constant({ kind: 'lost' } as const),
      fc.record({
        kind: fc.constant('failed' as const),
        code,
        detail: fc.constant('x'),
        roll: fc.constant(0.5),
        retryAfterMs: fc.option(fc.nat(900_000)),
      }),
    ),
    used: fc.option(fc.record({ tokens: fc.nat(9), micros: fc.nat(9) })),
    ms: fc.nat(9),
  }),
  fc.record({ type: fc.constant('carved' as const), key, tokens: fc.nat(99), micros: fc.nat(99) }),
  fc.record({ type: fc.constant('tool_done' as const), key, outcome }),
  fc.record({
    type: fc.constant('decided' as const),
    on: fc.constantFrom('approval', 'question', 'loop'),
    key,
    decided: fc.record({
      verdict: fc.constantFrom('yes', 'no'),
      reason: fc.constant(null),
      value: fc.option(fc.constant('look elsewhere')),
      by: fc.constant('ana'),
      consent: fc.constant(null),
    }),
  }),
  fc.record({ type: fc.constant('closed' as const), missing: fc.constantFrom([], ['report.md']) }),
  fc.constant({ type: 'cancelled' as const }),
  fc.constant({ type: 'retried' as const }),
)
