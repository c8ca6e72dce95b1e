/**
 * What a chat passes to the agent that decides: the conversation, the new message, and what may be executed.
 *
 * Owns its shape inside an agent's input. A caller who writes one by hand gains nothing: it only adds text.
 */
import type { Json } from '#model/kernel/json.ts'
import type { Message } from './conversation.ts'

export interface ChatCall {
  readonly prompt: string
  /** The messages before, oldest first. */
  readonly conversation: readonly { readonly role: 'user' | 'assistant'; readonly text: string }[]
  /** Appended to the agent's instructions. */
  readonly rules: string
}

const MARK = 'trihand_chat'

export const chatInput = (call: ChatCall): Json => ({ [MARK]: call as unknown as Json })

const isSaid = (value: unknown): value is ChatCall['conversation'][number] => {
  const { role, text } = (value ?? {}) as { role?: unknown; text?: unknown }
  return (role === 'user' || role === 'assistant') && typeof text === 'string'
}

/** Null: the input was not written by a chat. */
export const chatCallOf = (input: Json): ChatCall | null => {
  const given = (input as { readonly [MARK]?: Partial<ChatCall> } | null)?.[MARK]
  if (given === null || typeof given !== 'object') return null
  const { prompt, conversation, rules } = given
  if (typeof prompt !== 'string' || typeof rules !== 'string' || !Array.isArray(conversation)) return null
  return conversation.every(isSaid) ? { prompt, conversation, rules } : null
}

/** Empty texts are left out: providers refuse them. */
export const messagesBefore = (call: ChatCall | null): readonly Message[] =>
  (call?.conversation ?? [])
    .filter(({ text }) => text !== '')
    .map(({ role, text }) => ({ role, parts: [{ type: 'text', text }] }))
