/** What a turn says of something that was to be done: done, failed, or not allowed. Owns those parts of an answer. */

import { isStepFailure } from '#executors/workflow/step-failure.ts'
import type { ChatPart } from '#model/chat/chat.ts'
import { isJsonRecord, type Json } from '#model/kernel/json.ts'
import type { AskReply } from '#ports/step-gate.ts'

interface Asked {
  readonly executor: string
  readonly input: Json
}

export const isYes = ({ status }: AskReply): boolean => status === 'approved' || status === 'completed'
export const noOf = ({ feedback, decision }: AskReply): string => feedback ?? `a person said ${decision}`

export const denied = ({ executor, input }: Asked, detail: string): ChatPart => ({
  type: 'execution',
  ...{ executor, input, state: 'denied', output: null, detail },
})

export const failed = ({ executor, input }: Asked, detail: string): ChatPart => ({
  type: 'execution',
  ...{ executor, input, state: 'failed', output: null, detail },
})

/** What of a result is meant to be read: a text, or the content of what an executor gives. */
const textIn = (output: Json): string | null => {
  if (typeof output === 'string') return output
  const content = isJsonRecord(output) ? output['content'] : null
  return typeof content === 'string' ? content : null
}

/** An executor that fails is an answer that says so. */
export const performed = async (asked: Asked, work: () => Promise<Json>): Promise<readonly ChatPart[]> => {
  try {
    const output = await work()
    const text = textIn(output)
    const done: ChatPart = { type: 'execution', ...asked, state: 'done', output, detail: null }
    return text === null ? [done] : [done, { type: 'text', text }]
  } catch (error) {
    if (!isStepFailure(error)) throw error
    return [failed(asked, `${error.code}: ${error.message}`)]
  }
}
