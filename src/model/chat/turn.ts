/**
 * The current view of a chat's turn: what was said, what is being done, whom it waits for, how it ended.
 *
 * Owns the reading of a turn's steps. Total: every set of steps has a view; later steps only add to it.
 */
import type { Failure } from '#model/kernel/errors.ts'
import { type ChildId, isTaskId, type RunId, type TaskId } from '#model/kernel/ids.ts'
import { isJsonRecord, type Json } from '#model/kernel/json.ts'
import { isEnded, type RunStatus } from '#model/run/status.ts'
import {
  answerId,
  type ChatDecision,
  type ChatMessage,
  type ChatPart,
  type ChatPlan,
  type ChatVerdict,
  decisionOf,
} from './chat.ts'

/** The part of a step that this file needs. */
export interface TurnStep {
  readonly state: 'open' | 'done' | 'failed'
  readonly child: ChildId | null
  readonly value: Json
  readonly error: Failure | null
}

export interface TurnSteps {
  readonly status: RunStatus
  readonly error: Failure | null
  readonly steps: ReadonlyMap<string, TurnStep>
}

export interface Execution {
  readonly executor: string
  readonly input: Json
  readonly state: 'proposed' | 'waiting' | 'running' | 'done' | 'failed' | 'denied'
  readonly task: TaskId | null
  /** The run that executes it, if there is one. */
  readonly run: ChildId | null
  /** The steps of it; null: it is not a plan. */
  readonly plan: ChatPlan | null
  readonly output: Json
  readonly detail: string | null
}

export interface TurnView {
  readonly run: RunId
  readonly id: string
  readonly status: 'queued' | 'running' | 'waiting' | 'done' | 'failed' | 'cancelled'
  /** The run of the agent that decides. */
  readonly decider: ChildId | null
  /** The agent's reply; null: it has not answered yet. */
  readonly reply: string | null
  readonly execution: Execution | null
  /** The text after something was executed. */
  readonly closing: string | null
  readonly error: Failure | null
  readonly simulated: boolean
  readonly tokens: number | null
}

const QUEUED: Omit<TurnView, 'run' | 'id'> = {
  ...{ status: 'queued', decider: null, reply: null, execution: null, closing: null, error: null },
  ...{ simulated: false, tokens: null },
}

const done = (step: TurnStep | undefined): Json => (step?.state === 'done' ? step.value : null)

interface Said {
  readonly decision: ChatDecision | null
  readonly simulated: boolean
}

const saidBy = (step: TurnStep | undefined): Said => {
  const answer = done(step)
  if (!isJsonRecord(answer)) return { decision: null, simulated: false }
  const output = answer['output'] ?? null
  const plain = typeof output === 'string' ? { action: 'reply', reply: output } : output
  return { decision: decisionOf(plain), simulated: answer['simulated'] === true }
}

const executedIn = (message: ChatMessage | null): Extract<ChatPart, { readonly type: 'execution' }> | null =>
  message?.parts.find((part) => part.type === 'execution') ?? null

const stateOf = (steps: TurnSteps['steps'], verdict: ChatVerdict): Execution['state'] => {
  if (steps.get('execute') !== undefined) return 'running'
  if (verdict.kind === 'deny') return 'denied'
  return verdict.kind === 'ask' && steps.get('approve')?.state === 'open' ? 'waiting' : 'proposed'
}

const executionOf = (
  steps: TurnSteps['steps'],
  decision: ChatDecision | null,
  message: ChatMessage | null,
): Execution | null => {
  const verdict = done(steps.get('policy')) as unknown as ChatVerdict | null
  if (decision === null || verdict === null || verdict.kind === 'none') return null
  const asked = steps.get('approve')?.child ?? null
  const about = {
    executor: decision.executor ?? '',
    input: decision.task,
    task: asked !== null && isTaskId(asked) ? asked : null,
    run: steps.get('execute')?.child ?? null,
    plan: done(steps.get('plan')) as unknown as ChatPlan | null,
  }
  const saved = executedIn(message)
  if (saved === null) return { ...about, state: stateOf(steps, verdict), output: null, detail: null }
  return { ...about, state: saved.state, output: saved.output, detail: saved.detail }
}

/** Returns every text after the first execution. */
const closingOf = (message: ChatMessage | null): string | null => {
  const parts = message?.parts ?? []
  const after = parts.slice(parts.findIndex(({ type }) => type === 'execution') + 1)
  if (executedIn(message) === null || after.length === 0) return null
  return after.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n\n')
}

const statusOf = ({ status, steps }: TurnSteps): TurnView['status'] => {
  if (status === 'cancelled') return 'cancelled'
  if (status === 'success' || status === 'partial') return 'done'
  if (isEnded(status)) return 'failed'
  return steps.get('approve')?.state === 'open' ? 'waiting' : 'running'
}

/** `steps`: null while the turn waits for the turn before it. */
export const turnView = (run: RunId, turn: TurnSteps | null): TurnView => {
  const about = { run, id: answerId(run) }
  if (turn === null) return { ...QUEUED, ...about }
  const { steps } = turn
  const { decision, simulated } = saidBy(steps.get('decide'))
  const message = done(steps.get('save')) as unknown as ChatMessage | null
  return {
    ...about,
    status: statusOf(turn),
    decider: steps.get('decide')?.child ?? null,
    reply: decision === null ? null : decision.reply,
    execution: executionOf(steps, decision, message),
    closing: closingOf(message),
    error: turn.error,
    simulated,
    tokens: message?.tokens ?? null,
  }
}
