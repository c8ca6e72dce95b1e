/**
 * Facts of one agent's work, and the state that they fold into.
 *
 * Owns the shapes and the fold. Total: facts in any order, repeated or for unknown calls, fold without a throw. The next action is chosen in
 * turn.ts.
 *
 * agent-state-1  The first fact about a reply, a result or a decision counts; a later one changes nothing.
 * agent-state-2  Failures before a retry do not count against the agent: attempts, turns, tool calls, time, refused calls, wrong answers, a loop
 *                that a person ended. Tokens and money spent do.
 * agent-state-3  A failed call gives back its reservation, except what the provider reports as used. A call whose process died counts with its
 *                whole reservation.
 */
import type { Finish, ModelUsage, Part } from '#model/chat/conversation.ts'
import { NOTHING_SPENT, type Reservation, type Spent, spend } from '#model/flow/policies/budget.ts'
import type { CallFailure } from '#model/flow/policies/model-choice.ts'
import type { ErrorCode } from '#model/kernel/errors.ts'
import type { Json } from '#model/kernel/json.ts'

/** A file of the workspace as recorded in the ledger. */
export interface FileFact {
  readonly path: string
  /** The address of the blob that holds it; null: the file was removed. */
  readonly hash: string | null
  readonly bytes: number
  readonly encoding: 'utf8' | 'base64'
}

/** A call of a reply, with our own key `n.i`, because a provider's ids may repeat. */
export interface AgentCall {
  readonly key: string
  readonly tool: string
  readonly input: Json
}

/** The check of an answer against its schema; null: it was not a final answer, or there is no schema. */
export type OutputCheck =
  | { readonly ok: true; readonly value: Json }
  | { readonly ok: false; readonly issues: readonly string[] }

export interface Price {
  /** Null: unknown, which is not zero. */
  readonly micros: number | null
  /** If the price is unknown: the cost that the provider reports, which was not checked. */
  readonly unverified?: number
  readonly model: string | null
  readonly source: string
  readonly approximate: boolean
}

export interface Reply {
  readonly model: string
  readonly provider: string
  readonly modelUsed: string
  readonly parts: readonly Part[]
  readonly calls: readonly AgentCall[]
  readonly finish: Finish
  readonly usage: ModelUsage
  readonly usageSource: 'reported' | 'estimated'
  readonly cost: Price
  readonly findings: readonly string[]
  readonly check: OutputCheck | null
  readonly isSimulated: boolean
  readonly responseId: string | null
  readonly ms: number
  /** What another harness did by itself until it had this reply. Absent: the reply is one call to a model. */
  readonly inside?: Inside
}

/** The work of another harness in one reply. */
export interface Inside {
  /** The address of the blob that holds its transcript. */
  readonly transcript: string
  readonly files: readonly FileFact[]
  readonly untrusted: boolean
  /** The harness's own model calls and tool calls. */
  readonly turns: number
  readonly calls: number
}

export interface ToolOutcome {
  readonly output: Json | null
  readonly error: { readonly code: ErrorCode; readonly message: string } | null
  /** Why a person or the broker did not let it run; null: it ran. */
  readonly denied: string | null
  readonly files: readonly FileFact[]
  /** Some of the output is from untrusted sources. */
  readonly untrusted: boolean
  /** What a child has used of the budget that was carved out for it. */
  readonly spent: Spent | null
  readonly ms: number
}

/** What a call without an answer has used. */
export interface CallUse {
  readonly tokens: number
  /** Null: the price is unknown. */
  readonly micros: number | null
}

export type WaitKind = 'approval' | 'question' | 'loop'

/** A person's decision. */
export interface Decided {
  readonly verdict: 'yes' | 'no'
  readonly reason: string | null
  /** An approval may change the input; a question is answered with a value; a loop may be given a hint. */
  readonly value: Json | null
  readonly by: string
  /** The hash of the input that an approval is for; null: the decision is not for a call. */
  readonly consent: string | null
}

export type AgentFact =
  | { readonly type: 'hydrated'; readonly files: readonly FileFact[]; readonly untrusted: boolean; readonly ms: number }
  | { readonly type: 'reserved'; readonly n: number; readonly attempt: number; readonly reservation: Reservation }
  | { readonly type: 'replied'; readonly n: number; readonly attempt: number; readonly reply: Reply }
  | {
      readonly type: 'call_failed'
      readonly n: number
      readonly attempt: number
      readonly failure: CallFailure
      /** Null: it is unknown what the call used. */
      readonly used: CallUse | null
      readonly ms: number
    }
  | { readonly type: 'carved'; readonly key: string; readonly tokens: number; readonly micros: number }
  | { readonly type: 'tool_done'; readonly key: string; readonly outcome: ToolOutcome }
  | { readonly type: 'decided'; readonly on: WaitKind; readonly key: string; readonly decided: Decided }
  | { readonly type: 'closed'; readonly missing: readonly string[] }
  | { readonly type: 'cancelled' }
  /** The run had failed here and was retried. */
  | { readonly type: 'retried' }

/** The totals when the run was last retried. */
export interface Before {
  /** How often it was retried. */
  readonly lives: number
  readonly replies: number
  readonly calls: number
  readonly refusals: number
  readonly activeMs: number
}

export interface AgentState {
  readonly isHydrated: boolean
  readonly isCancelled: boolean
  /** By the number of the reply; replies after a gap do not count until the gap is filled. */
  readonly replies: ReadonlyMap<number, Reply>
  readonly failures: ReadonlyMap<number, readonly CallFailure[]>
  readonly outcomes: ReadonlyMap<string, ToolOutcome>
  readonly decisions: ReadonlyMap<string, Decided>
  /** By path. */
  readonly files: ReadonlyMap<string, FileFact>
  readonly isTainted: boolean
  readonly closed: { readonly missing: readonly string[] } | null
  readonly spent: Spent
  /** Model calls with unknown cost. */
  readonly unknown: number
  /** Reserved or carved out, and not settled yet. */
  readonly pending: ReadonlyMap<string, { readonly tokens: number; readonly micros: number }>
  readonly activeMs: number
  readonly before: Before
}

export const NEW_AGENT: AgentState = {
  isHydrated: false,
  isCancelled: false,
  replies: new Map(),
  failures: new Map(),
  outcomes: new Map(),
  decisions: new Map(),
  files: new Map(),
  isTainted: false,
  closed: null,
  spent: NOTHING_SPENT,
  unknown: 0,
  pending: new Map(),
  activeMs: 0,
  before: { lives: 0, replies: 0, calls: 0, refusals: 0, activeMs: 0 },
}

export const decisionKey = (on: WaitKind, key: string): string => `${on} ${key}`
export const callKey = (n: number, i: number): string => `${n}.${i}`
const reservationKey = (n: number, attempt: number): string => `${n}:${attempt}`

const withEntry = <K, V>(map: ReadonlyMap<K, V>, key: K, value: V): ReadonlyMap<K, V> => new Map(map).set(key, value)
const without = <K, V>(map: ReadonlyMap<K, V>, key: K): ReadonlyMap<K, V> => {
  if (!map.has(key)) return map
  const rest = new Map(map)
  rest.delete(key)
  return rest
}

const withFiles = (files: AgentState['files'], changed: readonly FileFact[]): AgentState['files'] => {
  if (changed.length === 0) return files
  const next = new Map(files)
  for (const file of changed) {
    if (file.hash === null) next.delete(file.path)
    else next.set(file.path, file)
  }
  return next
}

/** Tool calls of all replies, including those of another harness. */
export const callCount = ({ replies }: AgentState): number =>
  [...replies.values()].reduce((sum, { calls, inside }) => sum + calls.length + (inside?.calls ?? 0), 0)

export const refusalCount = ({ outcomes }: AgentState): number => {
  let count = 0
  for (const { error } of outcomes.values())
    if (error !== null && (error.code === 'TOOL_NOT_ALLOWED' || error.code === 'TOOL_INPUT_INVALID')) count++
  return count
}

/** agent-state-2. */
const retried = (state: AgentState): AgentState => {
  const isEndedLoop = ([key, { verdict }]: readonly [string, Decided]): boolean =>
    verdict === 'no' && key.startsWith(decisionKey('loop', ''))
  return {
    ...state,
    failures: new Map(),
    decisions: new Map([...state.decisions].filter((entry) => !isEndedLoop(entry))),
    closed: null,
    before: {
      lives: state.before.lives + 1,
      replies: state.replies.size,
      calls: callCount(state),
      refusals: refusalCount(state),
      activeMs: state.activeMs,
    },
  }
}

const replied = (state: AgentState, fact: Extract<AgentFact, { type: 'replied' }>): AgentState => {
  const { n, attempt, reply } = fact
  if (state.replies.has(n)) return state
  const { usage, cost, usageSource, ms, inside } = reply
  const key = reservationKey(n, attempt)
  // Against a limit, a call of unknown price counts with its reservation.
  const micros = cost.micros ?? state.pending.get(key)?.micros ?? 0
  return {
    ...state,
    replies: withEntry(state.replies, n, reply),
    files: withFiles(state.files, inside?.files ?? []),
    isTainted: state.isTainted || inside?.untrusted === true,
    pending: without(state.pending, key),
    spent: spend(state.spent, usage.input + usage.output, micros, usageSource === 'estimated' || cost.micros === null),
    unknown: state.unknown + (cost.micros === null ? 1 : 0),
    activeMs: state.activeMs + ms,
  }
}

/** agent-state-3. A process that died may have received its answer, which is paid for; a provider that failed has given none. */
const callFailed = (state: AgentState, fact: Extract<AgentFact, { type: 'call_failed' }>): AgentState => {
  const { n, attempt, failure, used, ms } = fact
  const key = reservationKey(n, attempt)
  const whole = state.pending.get(key) ?? NOTHING_SPENT
  const { tokens, micros } = used ?? (failure.kind === 'lost' ? whole : NOTHING_SPENT)
  const isUnknown = used === null || micros === null
  return {
    ...state,
    failures: withEntry(state.failures, n, [...(state.failures.get(n) ?? []), failure]),
    pending: without(state.pending, key),
    spent: spend(state.spent, tokens, micros ?? whole.micros, isUnknown),
    unknown: state.unknown + (isUnknown ? 1 : 0),
    activeMs: state.activeMs + ms,
  }
}

const toolDone = (state: AgentState, { key, outcome }: Extract<AgentFact, { type: 'tool_done' }>): AgentState => {
  if (state.outcomes.has(key)) return state
  const { spent } = outcome
  return {
    ...state,
    outcomes: withEntry(state.outcomes, key, outcome),
    files: withFiles(state.files, outcome.files),
    isTainted: state.isTainted || outcome.untrusted,
    pending: without(state.pending, key),
    spent: spent === null ? state.spent : spend(state.spent, spent.tokens, spent.micros, spent.isEstimated),
    activeMs: state.activeMs + outcome.ms,
  }
}

const hydrated = (state: AgentState, fact: Extract<AgentFact, { type: 'hydrated' }>): AgentState => {
  if (state.isHydrated) return state
  const files = withFiles(state.files, fact.files)
  const isTainted = state.isTainted || fact.untrusted
  return { ...state, isHydrated: true, files, isTainted, activeMs: state.activeMs + fact.ms }
}

export const evolveAgent = (state: AgentState, fact: AgentFact): AgentState => {
  switch (fact.type) {
    case 'hydrated':
      return hydrated(state, fact)
    case 'reserved':
      return { ...state, pending: withEntry(state.pending, reservationKey(fact.n, fact.attempt), fact.reservation) }
    case 'replied':
      return replied(state, fact)
    case 'call_failed':
      return callFailed(state, fact)
    case 'carved':
      return { ...state, pending: withEntry(state.pending, fact.key, { tokens: fact.tokens, micros: fact.micros }) }
    case 'tool_done':
      return toolDone(state, fact)
    case 'decided': {
      const key = decisionKey(fact.on, fact.key)
      return state.decisions.has(key) ? state : { ...state, decisions: withEntry(state.decisions, key, fact.decided) }
    }
    case 'closed':
      return state.closed === null ? { ...state, closed: { missing: fact.missing } } : state
    case 'cancelled':
      return { ...state, isCancelled: true }
    case 'retried':
      return retried(state)
  }
}

/** All that is spent or reserved: the allowance minus this may still be reserved. */
export const committed = ({ spent, pending }: AgentState): Spent => {
  let all = spent
  for (const { tokens, micros } of pending.values()) all = spend(all, tokens, micros)
  return all
}
