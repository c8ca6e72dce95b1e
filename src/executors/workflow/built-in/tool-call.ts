/**
 * `tool_call`: one call of a tool, through the broker that decides whether it is permitted.
 *
 * Owns only the translation: the broker checks name, input and permissions, and the tool does its work.
 */
import type { Json } from '#model/kernel/json.ts'
import type { Executor } from '#ports/executor.ts'
import { answered, membersOf, textAt } from './task-input.ts'

/** A refusal is an answer: nothing has been done. */
export type ToolAnswer =
  | { readonly kind: 'done'; readonly output: Json }
  | {
      readonly kind: 'failed'
      readonly code: string
      readonly message: string
      readonly retryable: boolean
      readonly definite: boolean
    }

export interface ToolBroker {
  call(request: ToolRequest, signal: AbortSignal): Promise<ToolAnswer>
}

export interface ToolRequest {
  readonly tool: string
  readonly input: Json
  /** The same key for every attempt. */
  readonly effectKey: string
}

export const toolCall = (broker: ToolBroker): Executor => ({
  execute: ({ task: { input }, context, taskId }, abort) =>
    answered(async () => {
      const task = membersOf(input)
      const request = { tool: textAt(task, 'tool'), input: task['input'] ?? {}, effectKey: context.effectKey ?? taskId }
      const answer = await broker.call(request, abort.signal)
      if (answer.kind === 'done') return { status: 'success', result: { content: answer.output, format: 'json' } }
      const { code, message, retryable, definite } = answer
      return { status: 'failed', error: { code, message, retryable, definite } }
    }),
})
