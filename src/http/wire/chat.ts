/**
 * Chats on the wire: messages in the format of the AI SDK's clients, and what such a client sends.
 *
 * Owns both formats. Of the history that a client sends only the last message is read: approvals and answers in earlier ones are ignored.
 */
import type { Members } from '#http/server/body.ts'
import type { ChatHead, ChatMessage, ChatPart, ChatSpec } from '#model/chat/chat.ts'
import { ERRORS, TrihandError } from '#model/kernel/errors.ts'
import { isTaskId, type TaskId } from '#model/kernel/ids.ts'
import { isJsonRecord, type Json } from '#model/kernel/json.ts'
import type { Conversation } from '#modes/chats.ts'
import { planCard } from './plan.ts'
import { isoTime } from './time.ts'

const CODE = 'INPUT_INVALID'

type Record = { readonly [name: string]: Json }

// -- out ----------------------------------------------------------------------------------------------------------------

const toolPart = (part: Extract<ChatPart, { readonly type: 'execution' }>, id: string): Json => {
  const { executor, input, state, output, detail } = part
  const about = { type: 'dynamic-tool', toolName: executor, toolCallId: `${id}.1`, input }
  switch (state) {
    case 'done':
      return { ...about, state: 'output-available', output }
    case 'failed':
      return { ...about, state: 'output-error', errorText: detail }
    case 'denied':
      return { ...about, state: 'output-denied', approval: { id: `${id}.1`, approved: false, reason: detail } }
  }
}

const partDocument = (part: ChatPart, id: string, all: readonly ChatPart[]): Json => {
  switch (part.type) {
    case 'text':
      return { ...part }
    case 'plan': {
      const execution = all.find(({ type }) => type === 'execution') as { readonly state?: string } | undefined
      return {
        type: 'data-plan',
        id: 'plan',
        data: planCard(part.plan, execution?.state ?? 'proposed', part.run ?? null),
      }
    }
    case 'execution':
      return toolPart(part, id)
  }
}

const messageDocument = ({ id, role, parts, at, run, simulated, tokens, error }: ChatMessage): Json => ({
  id,
  role,
  metadata: { run_id: run, simulated, at: isoTime(at), usage: { tokens } },
  parts: [
    ...parts.map((part): Json => partDocument(part, id, parts)),
    ...(error === null
      ? []
      : [{ type: 'data-error', data: { code: error.code, message: error.message, hint: ERRORS[error.code].hint } }]),
  ],
})

export const chatSummary = ({ id, name, title, at }: ChatHead): Record => ({ id, name, title, updated_at: isoTime(at) })

export const chatDocument = (chat: Conversation): object => ({
  ...chatSummary(chat),
  messages: chat.messages.map(messageDocument),
  running: chat.running,
})

export const chatDefinition = ({ name, description, agent, executors, whileRunning }: ChatSpec): Json => ({
  name,
  description,
  agent,
  executors: executors.map((one) => ({
    name: one.name,
    description: one.description,
    needs_approval: one.needsApproval,
  })),
  on_message_while_running: whileRunning,
})

// -- in -----------------------------------------------------------------------------------------------------------------

export type ChatRequest =
  | {
      readonly kind: 'message'
      readonly chat: string
      readonly id: string
      readonly text: string
      readonly name?: string
    }
  | {
      readonly kind: 'approval'
      readonly chat: string
      readonly task: TaskId
      readonly hash: string
      readonly approved: boolean
      readonly reason: string | null
    }

const textIn = (record: Record, name: string): string | null => {
  const value = record[name]
  return typeof value === 'string' ? value : null
}

const recordsIn = (value: Json | undefined): readonly Record[] =>
  Array.isArray(value) ? value.filter(isJsonRecord) : []

const wordsOf = (message: Record): string =>
  textIn(message, 'text') ??
  recordsIn(message['parts'])
    .flatMap((part) => (part['type'] === 'text' ? (textIn(part, 'text') ?? []) : []))
    .join('\n\n')

/** The approval in the last message, if that message answers a question. */
const answerIn = (message: Record): Record | null => {
  const answered = recordsIn(message['parts']).filter(({ state }) => state === 'approval-responded')
  const approval = answered.at(-1)?.['approval']
  return isJsonRecord(approval ?? null) ? (approval as Record) : null
}

const approvalOf = (chat: string, approval: Record): ChatRequest => {
  const [task = '', hash = ''] = (textIn(approval, 'id') ?? '').split('.')
  if (!isTaskId(task) || hash === '')
    throw new TrihandError(CODE, 'an approval needs the task and the hash of what was shown')
  if (typeof approval['approved'] !== 'boolean') throw new TrihandError(CODE, 'approved must be true or false')
  return { kind: 'approval', chat, task, hash, approved: approval['approved'], reason: textIn(approval, 'reason') }
}

const lastOf = ({ message, messages }: Members): Record => {
  if (typeof message === 'string')
    throw new TrihandError(CODE, 'message needs an id and a text: { "id": "m1", "text": "…" }')
  const last = message === undefined && Array.isArray(messages) ? messages.at(-1) : message
  if (last === undefined || !isJsonRecord(last))
    throw new TrihandError(CODE, 'the request has no message: send message or messages')
  return last
}

export const chatRequest = (members: Members): ChatRequest => {
  const { id: chat, chat: name } = members
  if (typeof chat !== 'string') throw new TrihandError(CODE, 'id must be a text: the id of the chat')
  if (name !== undefined && typeof name !== 'string') throw new TrihandError(CODE, 'chat must be a text')
  const last = lastOf(members)
  const approval = last['role'] === 'assistant' ? answerIn(last) : null
  if (approval !== null) return approvalOf(chat, approval)
  if (last['role'] !== undefined && last['role'] !== 'user')
    throw new TrihandError(CODE, 'the last message must be from the user')
  const id = textIn(last, 'id')
  if (id === null) throw new TrihandError(CODE, 'the message needs an id; a repeated id is the same message')
  return { kind: 'message', chat, id, text: wordsOf(last), ...(name === undefined ? {} : { name }) }
}
