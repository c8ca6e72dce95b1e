/**
 * The next action of an agent: one model call, the tool calls that are ready, a wait for a person, or its end.
 *
 * Owns the order of an agent's work and its limits. Pure and total: it reads the state that facts fold into, and the broker's judgement on a call
 * arrives as a function. Nothing but its facts is kept of an agent between two wakes.
 *
 * turn-1  A call without a result is performed, refused or waited for before the model is called again.
 * turn-2  Calls that only read run together; others run one after another by index, and a waiting call holds them back.
 * turn-3  A wrong answer is repaired once.
 * turn-4  The same call three times in a row asks a person.
 */
import { textOf } from '#model/chat/conversation.ts'
import { type CallFailure, chooseModel } from '#model/flow/policies/model-choice.ts'
import type { ErrorCode } from '#model/kernel/errors.ts'
import { canonical, type Json } from '#model/kernel/json.ts'
import {
  type AgentCall,
  type AgentState,
  callCount,
  type Decided,
  decisionKey,
  type Reply,
  refusalCount,
  type WaitKind,
} from './state.ts'

/** The broker's judgement on a call before it is performed. */
export type Judgement =
  | { readonly kind: 'refuse' }
  /** A person answers instead of a program. */
  | { readonly kind: 'question' }
  | { readonly kind: 'run'; readonly effect: 'none' | 'idempotent' | 'once'; readonly needsApproval: boolean }

export interface TurnRules {
  readonly maxTurns: number
  readonly maxToolCalls: number
  readonly timeoutMs: number
  readonly maxRetries: number
  /** How many models may be used: the first and its fallbacks. */
  readonly models: number
  readonly hasSchema: boolean
  judge(call: AgentCall, state: AgentState): Judgement
}

type EndStatus = 'success' | 'partial' | 'failed' | 'cancelled'

/** An action to perform; after it the next one is computed. */
export type Action =
  | { readonly kind: 'hydrate' }
  | {
      readonly kind: 'model'
      readonly n: number
      readonly attempt: number
      readonly model: number
      /** Delay after the attempt before it. */
      readonly waitMs: number
    }
  | { readonly kind: 'tools'; readonly n: number; readonly ready: readonly AgentCall[] }
  | { readonly kind: 'wait'; readonly on: WaitKind; readonly calls: readonly AgentCall[] }
  | { readonly kind: 'close'; readonly output: Json }

export interface End {
  readonly kind: 'end'
  readonly status: EndStatus
  readonly code: ErrorCode | null
  readonly detail: string | null
  readonly output: Json
}

export type Turn = Action | End

const MAX_PARALLEL = 8
const MAX_REFUSALS = 5
const LOOP = 3

const failed = (code: ErrorCode, detail: string): Turn => ({
  kind: 'end',
  status: 'failed',
  code,
  detail,
  output: null,
})

/** Includes the last failure, because it explains why the time was used up. */
const timedOut = (activeMs: number, { timeoutMs }: TurnRules, failures: readonly CallFailure[] = []): Turn => {
  const last = failures.at(-1)
  const why = last?.kind === 'failed' ? `; ${last.code}: ${last.detail}` : ''
  return failed('STEP_TIMEOUT', `the agent worked for ${activeMs} ms; at most ${timeoutMs} ms are allowed${why}`)
}

/** The replies from the first one up to the first gap. */
export const repliesOf = ({ replies }: AgentState): readonly Reply[] => {
  const list: Reply[] = []
  for (let n = 0; ; n++) {
    const reply = replies.get(n)
    if (reply === undefined) return list
    list.push(reply)
  }
}

/** The tokens of all replies. */
export const usageOf = (state: AgentState): { readonly input: number; readonly output: number } => {
  const replies = repliesOf(state)
  const sum = (of: 'input' | 'output'): number => replies.reduce((total, { usage }) => total + usage[of], 0)
  return { input: sum('input'), output: sum('output') }
}

/** turn-4: true if this call and the ones just before it are the same, so that repeating it will give nothing new. */
const isLoop = (call: AgentCall, calls: readonly AgentCall[]): boolean => {
  const index = calls.findIndex(({ key }) => key === call.key)
  const last = calls.slice(Math.max(0, index - LOOP + 1), index + 1)
  const text = canonical(call.input)
  return last.length === LOOP && last.every(({ tool, input }) => tool === call.tool && canonical(input) === text)
}

interface Sorted {
  readonly ready: AgentCall[]
  readonly waiting: { readonly on: WaitKind; readonly call: AgentCall }[]
}

/** The decision of a person that a call waits for; null: none is needed. */
const waitOf = (
  call: AgentCall,
  judgement: Judgement,
  state: AgentState,
  all: readonly AgentCall[],
): WaitKind | null => {
  if (judgement.kind === 'refuse') return null
  const isOpen = (on: WaitKind): boolean => !state.decisions.has(decisionKey(on, call.key))
  if (isLoop(call, all) && isOpen('loop')) return 'loop'
  if (judgement.kind === 'question') return isOpen('question') ? 'question' : null
  return judgement.needsApproval && isOpen('approval') ? 'approval' : null
}

/** turn-2. */
const sort = (calls: readonly AgentCall[], all: readonly AgentCall[], state: AgentState, rules: TurnRules): Sorted => {
  const sorted: Sorted = { ready: [], waiting: [] }
  let isHeld = false
  for (const call of calls) {
    const judgement = rules.judge(call, state)
    const on = waitOf(call, judgement, state, all)
    const isFree = judgement.kind === 'refuse' || (judgement.kind === 'run' && judgement.effect === 'none')
    if (on !== null) sorted.waiting.push({ on, call })
    else if (isFree || !isHeld) sorted.ready.push(call)
    if (on !== null || !isFree) isHeld = true
  }
  return sorted
}

const callsOf = (replies: readonly Reply[]): readonly AgentCall[] => replies.flatMap(({ calls }) => calls)

/** A person who answered no to a loop ends the work, because the model would only continue the loop. */
const abortedLoop = (state: AgentState): Decided | null => {
  for (const [key, decided] of state.decisions)
    if (key.startsWith(decisionKey('loop', '')) && decided.verdict === 'no') return decided
  return null
}

const nextCalls = (n: number, replies: readonly Reply[], state: AgentState, rules: TurnRules): Turn | null => {
  const all = callsOf(replies)
  const open = (replies[n]?.calls ?? []).filter(({ key }) => !state.outcomes.has(key))
  if (open.length === 0) return null
  const count = callCount(state) - state.before.calls
  if (count > rules.maxToolCalls)
    return failed('AGENT_MAX_TOOL_CALLS', `${count} tool calls, at most ${rules.maxToolCalls} are allowed`)
  const { ready, waiting } = sort(open, all, state, rules)
  if (ready.length > 0) return { kind: 'tools', n, ready: ready.slice(0, MAX_PARALLEL) }
  const [first] = waiting
  if (first === undefined) return failed('INTERNAL', 'tool calls are open, and none of them can continue')
  return { kind: 'wait', on: first.on, calls: waiting.filter(({ on }) => on === first.on).map(({ call }) => call) }
}

const nextModel = (n: number, state: AgentState, rules: TurnRules): Turn => {
  if (n - state.before.replies >= rules.maxTurns)
    return failed('AGENT_MAX_TURNS', `no answer after ${rules.maxTurns} model calls`)
  const activeMs = state.activeMs - state.before.activeMs
  if (activeMs >= rules.timeoutMs) return timedOut(activeMs, rules, state.failures.get(n))
  const failures = state.failures.get(n) ?? []
  const choice = chooseModel(failures, rules.models, rules.maxRetries)
  if (choice.kind === 'give_up') return failed(choice.code, choice.detail)
  return { kind: 'model', n, attempt: failures.length + 1, model: choice.model, waitMs: choice.waitMs }
}

/** turn-3: the model is called again with the issues of an answer that did not fit. */
const afterAnswer = (n: number, reply: Reply, replies: readonly Reply[], state: AgentState, rules: TurnRules): Turn => {
  // The run failed with this answer and was retried: the model is asked for another.
  if (n < state.before.replies) return nextModel(n + 1, state, rules)
  const text = textOf(reply.parts)
  if (reply.finish === 'filtered') return failed('MODEL_FILTERED', 'the provider withheld the answer')
  if (reply.finish === 'length') {
    if (text.trim() === '')
      return failed('OUTPUT_INVALID', 'the model used all of max_tokens before it answered; raise max_tokens')
    if (rules.hasSchema) return failed('OUTPUT_INVALID', `the answer was cut off at max_tokens: ${text}`)
    return { kind: 'end', status: 'partial', code: null, detail: 'the answer was cut off at max_tokens', output: text }
  }
  if (!rules.hasSchema) return close(text, state)
  if (reply.check?.ok === true) return close(reply.check.value, state)
  const since = replies.slice(state.before.replies)
  const wrong = since.filter(({ check, calls }) => calls.length === 0 && check?.ok !== true).length
  if (wrong > 1) {
    const issues = reply.check?.ok === false ? reply.check.issues.join('; ') : 'not checked'
    return failed('OUTPUT_INVALID', `${issues}; the answer was: ${text}`)
  }
  return nextModel(n + 1, state, rules)
}

const isFailureTold = (output: Json): boolean =>
  output !== null &&
  typeof output === 'object' &&
  !Array.isArray(output) &&
  (output as { success?: Json }).success === false

const close = (output: Json, state: AgentState): Turn => {
  if (state.closed === null) return { kind: 'close', output }
  const { missing } = state.closed
  if (missing.length > 0) return failed('OUTPUT_INVALID', `required files are missing: ${missing.join(', ')}`)
  if (isFailureTold(output)) return failed('AGENT_REPORTED_FAILURE', canonical(output))
  return { kind: 'end', status: 'success', code: null, detail: null, output }
}

export const nextAction = (state: AgentState, rules: TurnRules): Turn => {
  if (state.isCancelled) return { kind: 'end', status: 'cancelled', code: 'RUN_CANCELLED', detail: null, output: null }
  const activeMs = state.activeMs - state.before.activeMs
  if (activeMs > rules.timeoutMs) return timedOut(activeMs, rules, state.failures.get(repliesOf(state).length))
  const loop = abortedLoop(state)
  if (loop !== null) return failed('AGENT_LOOP', loop.reason ?? 'a person ended the loop')
  if (refusalCount(state) - state.before.refusals >= MAX_REFUSALS)
    return failed('AGENT_LOOP', `${MAX_REFUSALS} calls were refused`)
  if (!state.isHydrated) return { kind: 'hydrate' }
  const replies = repliesOf(state)
  const n = replies.length - 1
  const last = replies[n]
  if (last === undefined) return nextModel(0, state, rules)
  const calls = nextCalls(n, replies, state, rules)
  if (calls !== null) return calls
  return last.calls.length > 0 ? nextModel(n + 1, state, rules) : afterAnswer(n, last, replies, state, rules)
}
