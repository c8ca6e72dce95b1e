/** The first message that a model reads: a prompt, or its input as data, and the list of its files. */
import { dataBlock } from '#model/agent/messages.ts'
import type { AgentState } from '#model/agent/state.ts'
import type { ChatCall } from '#model/chat/call.ts'
import type { Entry } from '#ports/step-port.ts'
import { givenInput } from './scope.ts'

export const taskText = (
  entry: Pick<Entry, 'input' | 'event'>,
  state: AgentState,
  chat: ChatCall | null,
  mark: string,
): string => {
  const input = givenInput(entry.input)
  const files = [...state.files.keys()].sort()
  const listed = files.length === 0 ? '' : `\n\nFiles in your workspace: ${files.join(', ')}`
  if (chat !== null) return `${chat.prompt}${listed}`
  if (typeof input === 'string') return `${input}${listed}`
  const data = dataBlock(mark, entry.event?.type ?? 'input', JSON.stringify(input, null, 2))
  return `Do your work on this input.\n${data}${listed}`
}
