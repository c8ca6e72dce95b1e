/**
 * Tools for callers that are not agents: a function's step that calls one. The same checks, without a conversation around them.
 *
 * Owns what such a call may be: a tool of the system, with an input that fits, that needs no person and no workspace.
 */
import { TrihandError } from '#model/kernel/errors.ts'
import { type Json, toJson } from '#model/kernel/json.ts'
import type { Tool, Workspace } from '#ports/tool.ts'
import type { AgentDeps } from './deps.ts'
import { codeOf, isDefinite } from './tool-call.ts'

export interface ToolCall {
  readonly tool: string
  readonly input: Json
  readonly effectKey: string
}

export type ToolAnswer =
  | { readonly kind: 'done'; readonly output: Json }
  | {
      readonly kind: 'failed'
      readonly code: string
      readonly message: string
      readonly retryable: boolean
      readonly definite: boolean
    }

const refused = (code: string, message: string): ToolAnswer => ({
  kind: 'failed',
  code,
  message,
  retryable: false,
  definite: true,
})

const nowhere = (): never => {
  throw new TrihandError('TOOL_FAILED', 'a tool that a function calls has no workspace')
}
const NO_WORKSPACE: Workspace = { read: nowhere, write: nowhere, remove: nowhere, list: nowhere }

const failed = (error: unknown): ToolAnswer => ({
  kind: 'failed',
  code: codeOf(error),
  message: error instanceof TrihandError ? error.detail : error instanceof Error ? error.message : String(error),
  retryable: error instanceof TrihandError && error.retryable,
  definite: isDefinite(error),
})

type Deps = Pick<AgentDeps, 'check' | 'ask' | 'fetchFor'>

const wantsPerson = ({ approval = false }: Tool, input: Json, deps: Deps): boolean => {
  if (typeof approval === 'boolean') return approval
  const answer = deps.ask(approval, { input })
  return answer.kind === 'error' || answer.value !== false
}

export const callAlone = async (
  { tool: name, input, effectKey }: ToolCall,
  signal: AbortSignal,
  tools: ReadonlyMap<string, Tool>,
  deps: Deps,
): Promise<ToolAnswer> => {
  const tool = tools.get(name)
  if (tool === undefined) return refused('TOOL_NOT_ALLOWED', `the system has no tool ${name}`)
  const issues = deps.check(tool.input, input)
  if (issues.length > 0) return refused('TOOL_INPUT_INVALID', issues.slice(0, 5).join('; '))
  if (wantsPerson(tool, input, deps)) return refused('TOOL_NOT_ALLOWED', `${name} needs a person's approval`)
  try {
    const fetch = deps.fetchFor(null)
    return {
      kind: 'done',
      output: toJson(await tool.run(input, { effectKey, signal, workspace: NO_WORKSPACE, fetch })),
    }
  } catch (error) {
    return failed(error)
  }
}
