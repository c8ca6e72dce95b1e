/** The next action of an agent, as given facts and the turn that follows. */
import { describe, expect, test } from 'vitest'
import type { Json } from '#model/kernel/json.ts'
import { anOutcome, aReply } from '#test/support/agents/agent-arbitrary.ts'
import { type AgentCall, type AgentFact, evolveAgent, NEW_AGENT } from './state.ts'
import { type Judgement, nextAction, type Turn, type TurnRules } from './turn.ts'

const JUDGED: Readonly<Record<string, Judgement>> = {
  Read: { kind: 'run', effect: 'none', needsApproval: false },
  Edit: { kind: 'run', effect: 'idempotent', needsApproval: false },
  send: { kind: 'run', effect: 'once', needsApproval: true },
  AskHuman: { kind: 'question' },
}
const RULES: TurnRules = {
  maxTurns: 3,
  maxToolCalls: 10,
  timeoutMs: 1_000,
  maxRetries: 1,
  models: 2,
  hasSchema: false,
  judge: ({ tool }) => JUDGED[tool] ?? { kind: 'refuse' },
}
const HYDRATED: AgentFact = { type: 'hydrated', files: [], untrusted: false, ms: 0 }

const nextOf = (facts: readonly AgentFact[], rules: Partial<TurnRules> = {}): Turn =>
  nextAction([HYDRATED, ...facts].reduce(evolveAgent, NEW_AGENT), { ...RULES, ...rules })

const calls = (n: number, ...tools: readonly (string | readonly [string, Json])[]): AgentFact => ({
  type: 'replied',
  n,
  attempt: 1,
  reply: aReply({
    finish: 'tools',
    calls: tools.map((given, i): AgentCall => {
      const [tool, input] = typeof given === 'string' ? [given, { i: `${n}.${i}` }] : given
      return { key: `${n}.${i}`, tool, input }
    }),
  }),
})
const done = (key: string): AgentFact => ({ type: 'tool_done', key, outcome: anOutcome() })
const yes = (on: 'approval' | 'question' | 'loop', key: string): AgentFact => ({
  type: 'decided',
  on,
  key,
  decided: { verdict: 'yes', reason: null, value: null, by: 'ana', consent: null },
})
const failure = (
  code: 'RATE_LIMITED' | 'MODEL_AUTH' | 'MODEL_REJECTED',
  retryAfterMs: number | null = null,
): AgentFact => ({
  type: 'call_failed',
  n: 0,
  attempt: 1,
  failure: { kind: 'failed', code, detail: 'x', roll: 1, retryAfterMs },
  used: null,
  ms: 0,
})
const keys = (turn: Turn): readonly string[] =>
  turn.kind === 'tools'
    ? turn.ready.map(({ key }) => key)
    : turn.kind === 'wait'
      ? turn.calls.map(({ key }) => key)
      : []

describe('the order of work', () => {
  test('an agent does nothing before its workspace is hydrated, and nothing after a cancel', () => {
    expect(nextAction(NEW_AGENT, RULES)).toEqual({ kind: 'hydrate' })
    expect(nextOf([{ type: 'cancelled' }])).toMatchObject({ kind: 'end', status: 'cancelled' })
  })

  test('turn-1: the model is called again only when every tool call has its result', () => {
    expect(nextOf([])).toMatchObject({ kind: 'model', n: 0, attempt: 1, model: 0 })
    expect(keys(nextOf([calls(0, 'Read', 'Read')]))).toEqual(['0.0', '0.1'])
    expect(keys(nextOf([calls(0, 'Read', 'Read'), done('0.1')]))).toEqual(['0.0'])
    expect(nextOf([calls(0, 'Read', 'Read'), done('0.1'), done('0.0')])).toMatchObject({ kind: 'model', n: 1 })
  })

  test('turn-2: calls with an effect run one after another, and reads run beside them', () => {
    expect(keys(nextOf([calls(0, 'Edit', 'Read', 'Edit')]))).toEqual(['0.0', '0.1'])
    expect(keys(nextOf([calls(0, 'Edit', 'Read', 'Edit'), done('0.0'), done('0.1')]))).toEqual(['0.2'])
  })

  test('turn-2: a call that waits holds back later calls with an effect, but not reads', () => {
    const reply = calls(0, 'send', 'Edit', 'Read')
    expect(keys(nextOf([reply]))).toEqual(['0.2'])
    expect(nextOf([reply, done('0.2')])).toMatchObject({ kind: 'wait', on: 'approval' })
    expect(keys(nextOf([reply, done('0.2'), yes('approval', '0.0')]))).toEqual(['0.0'])
  })

  test('at most eight reads run together', () => {
    expect(keys(nextOf([calls(0, ...Array.from({ length: 10 }, () => 'Read'))])).length).toBe(8)
  })

  test('a refused call is ready, because its refusal is its result', () => {
    expect(keys(nextOf([calls(0, 'Bash')]))).toEqual(['0.0'])
  })

  test('[D2] a question waits for a person and then runs with the answer', () => {
    expect(nextOf([calls(0, 'AskHuman')])).toMatchObject({ kind: 'wait', on: 'question' })
    expect(keys(nextOf([calls(0, 'AskHuman'), yes('question', '0.0')]))).toEqual(['0.0'])
  })

  test('turn-4: the same call three times in a row asks a person, who may end the work', () => {
    const same = ['Read', { file_path: 'a' }] as const
    const facts = [calls(0, same), done('0.0'), calls(1, same), done('1.0'), calls(2, same)]
    expect(nextOf(facts)).toMatchObject({ kind: 'wait', on: 'loop' })
    expect(keys(nextOf([...facts, yes('loop', '2.0')]))).toEqual(['2.0'])
    const no: AgentFact = {
      type: 'decided',
      on: 'loop',
      key: '2.0',
      decided: { verdict: 'no', reason: null, value: null, by: 'ana', consent: null },
    }
    expect(nextOf([...facts, no])).toMatchObject({ kind: 'end', status: 'failed', code: 'AGENT_LOOP' })
  })
})

describe('the end', () => {
  test('a text answer without a schema closes the work and then ends it', () => {
    const replied: AgentFact = { type: 'replied', n: 0, attempt: 1, reply: aReply() }
    expect(nextOf([replied])).toEqual({ kind: 'close', output: 'done' })
    expect(nextOf([replied, { type: 'closed', missing: [] }])).toMatchObject({
      kind: 'end',
      status: 'success',
      output: 'done',
    })
    expect(nextOf([replied, { type: 'closed', missing: ['a.md'] }])).toMatchObject({
      status: 'failed',
      code: 'OUTPUT_INVALID',
    })
  })

  const wrong = (n: number): AgentFact => ({
    type: 'replied',
    n,
    attempt: 1,
    reply: aReply({ check: { ok: false, issues: ['/a: missing'] } }),
  })
  const right = (n: number, value: Json): AgentFact => ({
    type: 'replied',
    n,
    attempt: 1,
    reply: aReply({ check: { ok: true, value } }),
  })

  test('[B4] turn-3: a wrong answer is repaired once', () => {
    expect(nextOf([wrong(0)], { hasSchema: true })).toMatchObject({ kind: 'model', n: 1 })
    expect(nextOf([wrong(0), right(1, { a: 1 })], { hasSchema: true })).toEqual({ kind: 'close', output: { a: 1 } })
    expect(nextOf([wrong(0), wrong(1)], { hasSchema: true })).toMatchObject({
      status: 'failed',
      code: 'OUTPUT_INVALID',
    })
  })

  test('an answer with success: false is a failure', () => {
    const facts: AgentFact[] = [right(0, { success: false, why: 'no data' }), { type: 'closed', missing: [] }]
    expect(nextOf(facts, { hasSchema: true })).toMatchObject({ status: 'failed', code: 'AGENT_REPORTED_FAILURE' })
  })

  test('[E3] an answer that was cut off is partial as text and invalid as data', () => {
    const cut: AgentFact = { type: 'replied', n: 0, attempt: 1, reply: aReply({ finish: 'length' }) }
    expect(nextOf([cut])).toMatchObject({ kind: 'end', status: 'partial', output: 'done' })
    expect(nextOf([cut], { hasSchema: true })).toMatchObject({ status: 'failed', code: 'OUTPUT_INVALID' })
  })

  test('limits end the work: turns, calls, time, refusals', () => {
    const turn = (n: number): AgentFact[] => [calls(n, 'Read'), done(`${n}.0`)]
    expect(nextOf([...turn(0), ...turn(1), ...turn(2)])).toMatchObject({ code: 'AGENT_MAX_TURNS' })
    expect(nextOf([calls(0, 'Read', 'Read')], { maxToolCalls: 1 })).toMatchObject({ code: 'AGENT_MAX_TOOL_CALLS' })
    const slow: AgentFact = { type: 'tool_done', key: '0.0', outcome: anOutcome({ ms: 2_000 }) }
    expect(nextOf([calls(0, 'Read'), slow])).toMatchObject({ code: 'STEP_TIMEOUT' })
    const refused = (key: string): AgentFact => ({
      type: 'tool_done',
      key,
      outcome: anOutcome({ error: { code: 'TOOL_NOT_ALLOWED', message: '' } }),
    })
    expect(nextOf([calls(0, 'x', 'x', 'x', 'x', 'x'), ...[0, 1, 2, 3, 4].map((i) => refused(`0.${i}`))])).toMatchObject(
      {
        code: 'AGENT_LOOP',
      },
    )
  })
})

describe('[B9] models', () => {
  test('model-choice-1: a failed call is repeated with the same model while that may help, then with the next, then the work ends', () => {
    const limited = failure('RATE_LIMITED')
    expect(nextOf([limited])).toMatchObject({ kind: 'model', attempt: 2, model: 0, waitMs: 1_000 })
    expect(nextOf([limited, limited])).toMatchObject({ kind: 'model', attempt: 3, model: 1, waitMs: 0 })
    expect(nextOf([limited, limited, limited, limited])).toMatchObject({ kind: 'end', code: 'RATE_LIMITED' })
  })

  test("a provider's retry-after is respected up to ten minutes, and beyond that the next model is used", () => {
    expect(nextOf([failure('RATE_LIMITED', 30_000)])).toMatchObject({ model: 0, waitMs: 30_000 })
    expect(nextOf([failure('RATE_LIMITED', 700_000)])).toMatchObject({ model: 1, waitMs: 0 })
  })

  test('a failure that a retry cannot fix moves to the next model at once, and one that no model can fix ends the work', () => {
    expect(nextOf([failure('MODEL_AUTH')])).toMatchObject({ kind: 'model', model: 1 })
    expect(nextOf([failure('MODEL_REJECTED')])).toMatchObject({ kind: 'end', code: 'MODEL_REJECTED' })
  })

  test('a lost attempt is repeated with the same model and does not use up a retry', () => {
    const lost: AgentFact = { type: 'call_failed', n: 0, attempt: 1, failure: { kind: 'lost' }, used: null, ms: 0 }
    expect(nextOf([lost, lost, lost])).toMatchObject({ kind: 'model', attempt: 4, model: 0, waitMs: 0 })
  })
})
