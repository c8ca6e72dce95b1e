/**
 * The rules of a chat: what a turn may decide, whether it may be done, and which part of the conversation it receives.
 *
 * Owns the decision's shape, the policy and the message. Never runs anything: a turn is an ordinary run (executors/workflow/chat/chat.ts).
 *
 * chat-1  Only what the chat lists is executed; anything else is denied, whoever asks for it.
 * chat-2  An execution that may have effects waits for a person, unless the chat says for that very executor that it need not.
 */
import type { Failure } from '#model/kernel/errors.ts'
import type { ChildId, Instant, PlanId, RunId } from '#model/kernel/ids.ts'
import { isJsonRecord, type Json } from '#model/kernel/json.ts'
import type { PlanProblem } from '#model/plan/draft.ts'
import type { NamedBy, ShownStep } from '#model/plan/shown.ts'
import type { Assignees } from '#model/task/spec.ts'

/** What happens to a message that arrives during a turn: it waits, it stops the turn, or it is refused. */
export const TURN_POLICIES = ['enqueue', 'interrupt', 'reject'] as const
export type TurnPolicy = (typeof TURN_POLICIES)[number]

export interface ChatExecutor {
  readonly name: string
  readonly description: string
  /** A handler is started as a run; a type is given a task (executor-contract 2); a plan is drafted, approved and run. */
  readonly kind: 'handler' | 'type' | 'plan'
  readonly needsApproval: boolean
  /** The steps, if it is a handler that runs a plan. */
  readonly plan?: ChatPlan
}

/** A plan as a chat shows it. */
export interface ChatPlan {
  /** Null: the plan is declared, and is not changed here. */
  readonly id: PlanId | null
  readonly goal: string
  /** Absent: the plan was shown by a version that did not record it. */
  readonly goalBy?: NamedBy
  readonly hash: string
  /** Its input, if that is known already. */
  readonly input?: Json
  readonly steps: readonly ShownStep[]
  readonly problems: readonly PlanProblem[]
}

export interface ChatSpec {
  readonly name: string
  readonly description: string
  /** The agent that decides. */
  readonly agent: string
  readonly executors: readonly ChatExecutor[]
  readonly whileRunning: TurnPolicy
  /** The people who approve. */
  readonly asks: Assignees
}

export const ACTIONS = ['reply', 'execute', 'ask', 'refuse'] as const

export interface ChatDecision {
  readonly action: (typeof ACTIONS)[number]
  /** Shown to the user at once. */
  readonly reply: string
  readonly executor: string | null
  readonly task: Json
  readonly reason: string | null
}

/** The reply comes before fields that may be long: it is shown while the rest is written. */
export const DECISION_SCHEMA: Json = {
  type: 'object',
  properties: {
    action: { type: 'string', enum: ACTIONS },
    reply: { type: 'string' },
    executor_type: { type: 'string' },
    task: { type: 'object' },
    reason: { type: 'string' },
  },
  required: ['action'],
}

const textIn = (record: { readonly [name: string]: Json }, name: string): string | null => {
  const value = record[name]
  return typeof value === 'string' ? value : null
}

/** Null: the output is not a decision. */
export const decisionOf = (output: Json): ChatDecision | null => {
  if (!isJsonRecord(output)) return null
  const action = ACTIONS.find((word) => word === output['action'])
  if (action === undefined) return null
  return {
    action,
    reply: textIn(output, 'reply') ?? '',
    executor: textIn(output, 'executor_type'),
    task: output['task'] ?? {},
    reason: textIn(output, 'reason'),
  }
}

export type ChatVerdict =
  /** Nothing is executed; the reply is the answer. */
  | { readonly kind: 'none' }
  | { readonly kind: 'allow' }
  | { readonly kind: 'ask' }
  | { readonly kind: 'deny'; readonly error: Failure }

/** Decides whether a decision may be executed. The verdict is recorded: a change of the chat affects later turns only. */
export const judgeDecision = ({ action, executor }: ChatDecision, { executors, name }: ChatSpec): ChatVerdict => {
  if (action !== 'execute') return { kind: 'none' }
  const found = executors.find((one) => one.name === executor)
  // chat-1
  if (found === undefined) {
    const message = `${name} may not execute ${executor ?? 'nothing'}`
    return { kind: 'deny', error: { code: 'EXECUTOR_NOT_ALLOWED', message } }
  }
  // chat-2
  return { kind: found.needsApproval ? 'ask' : 'allow' }
}

export type ChatPart =
  | { readonly type: 'text'; readonly text: string }
  /** The steps of the execution after it. Its run is not saved with it: a reader of the turn knows it. */
  | { readonly type: 'plan'; readonly plan: ChatPlan; readonly run?: ChildId }
  | {
      readonly type: 'execution'
      readonly executor: string
      readonly input: Json
      readonly state: 'done' | 'failed' | 'denied'
      readonly output: Json
      readonly detail: string | null
    }

export interface ChatMessage {
  readonly id: string
  readonly role: 'user' | 'assistant'
  readonly parts: readonly ChatPart[]
  readonly at: Instant
  /** The turn that it belongs to. */
  readonly run: RunId
  readonly simulated: boolean
  /** Tokens that the decision used; null: the number is not known, or no model was asked. */
  readonly tokens: number | null
  readonly error: Failure | null
}

/** What a session stores about its chat, in addition to the messages. */
export interface ChatHead {
  readonly id: string
  readonly name: string
  readonly title: string
  /** The number of messages. */
  readonly count: number
  /** The turn that was started last. */
  readonly turn: RunId
  readonly at: Instant
}

export const HEAD_KEY = 'chat'
export const messageKey = (index: number): string => `chat/message/${index}`

export const textOfMessage = ({ parts }: Pick<ChatMessage, 'parts'>): string =>
  parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n\n')

const MAX_MESSAGES = 20
const MAX_CHARACTERS = 32_000
const TITLE_LENGTH = 60

/** Returns the index of the first of the last messages that a turn receives. */
export const firstRecent = (count: number): number => Math.max(0, count - MAX_MESSAGES)

/** Returns the last messages that fit; a long one does not push out those after it. */
export const recentMessages = (messages: readonly ChatMessage[]): readonly ChatMessage[] => {
  const kept: ChatMessage[] = []
  let left = MAX_CHARACTERS
  for (const message of messages.slice(-MAX_MESSAGES).toReversed()) {
    left -= JSON.stringify(message.parts).length
    if (left < 0) break
    kept.unshift(message)
  }
  return kept
}

export const titleOf = (text: string): string => {
  const line = text.trim().replaceAll(/\s+/g, ' ')
  return line.length <= TITLE_LENGTH ? line : `${line.slice(0, TITLE_LENGTH - 1)}…`
}

/** The input of a turn. */
export interface TurnInput {
  readonly chat: string
  readonly message: { readonly id: string; readonly text: string }
  readonly at: Instant
}

export const turnHandler = (chat: string): string => `chat-${chat}`
export const answerId = (run: RunId): string => `msg_${run.slice('run_'.length)}`

/** A person is shown exactly the bytes that they approve. */
export const APPROVED_SECTION = 'call'
