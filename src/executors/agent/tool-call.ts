/**
 * One call of a tool, from an allowed name and a checked input to the record of its result.
 *
 * Owns the tool's surroundings (its files, its key, its fetch) and what its failure means. The broker has already permitted it.
 *
 * tool-call-1  A tool with effect none changes no file.
 * tool-call-2  A lost answer of a once tool is never reported to the model as a failure: the engine asks a person.
 */
import type { Module } from '#model/access/module.ts'
import type { AgentState, FileFact, ToolOutcome } from '#model/agent/state.ts'
import { type ErrorCode, isErrorCode, TrihandError } from '#model/kernel/errors.ts'
import { type Json, toJson } from '#model/kernel/json.ts'
import type { StepContext } from '#ports/step-port.ts'
import type { Tool, Workspace } from '#ports/tool.ts'
import type { OpenWorkspace } from '#ports/workspaces.ts'
import type { AgentDeps } from './deps.ts'

const MAX_MESSAGE = 500
const MAX_OUTPUT_CHARS = 30_000
const FINAL = Symbol.for('trihand.final_error')

export const NO_OUTCOME: ToolOutcome = {
  output: null,
  error: null,
  denied: null,
  files: [],
  untrusted: false,
  spent: null,
  ms: 0,
}

export const failedOutcome = (code: ErrorCode, message: string): ToolOutcome => ({
  ...NO_OUTCOME,
  error: { code, message: message.slice(0, MAX_MESSAGE) },
})

/** Opened on first use: most tools touch no file. */
class LazyWorkspace implements Workspace {
  private opened: Promise<OpenWorkspace> | null = null
  private readonly open: () => Promise<OpenWorkspace>
  private readonly isReadOnly: boolean

  constructor(open: () => Promise<OpenWorkspace>, isReadOnly: boolean) {
    this.open = open
    this.isReadOnly = isReadOnly
  }

  async read(path: string): Promise<Uint8Array> {
    return (await this.get()).read(path)
  }

  async write(path: string, bytes: Uint8Array): Promise<void> {
    this.requireWritable(path)
    await (await this.get()).write(path, bytes)
  }

  async remove(path: string): Promise<void> {
    this.requireWritable(path)
    await (await this.get()).remove(path)
  }

  async list(): ReturnType<Workspace['list']> {
    return (await this.get()).list()
  }

  async commit(): Promise<readonly FileFact[]> {
    return this.opened === null || this.isReadOnly ? [] : (await this.opened).commit()
  }

  async close(): Promise<void> {
    await this.opened?.then(
      (opened) => opened.close(),
      () => {},
    )
  }

  private get(): Promise<OpenWorkspace> {
    this.opened ??= this.open()
    return this.opened
  }

  /** tool-call-1. */
  private requireWritable(path: string): void {
    if (this.isReadOnly) throw new TrihandError('TOOL_FAILED', `a tool with effect none may not change ${path}`)
  }
}

/** The call definitely had no effect: the model may see the failure, even for a `once` effect. */
export const isDefinite = (error: unknown): boolean =>
  (error instanceof TrihandError && !error.retryable && error.outcome === 'not_done') ||
  (typeof error === 'object' && error !== null && FINAL in error)

const failureOf = (error: unknown): ToolOutcome => {
  if (error instanceof TrihandError) return failedOutcome(error.code, error.detail)
  return failedOutcome('TOOL_FAILED', error instanceof Error ? error.message : String(error))
}

const cut = (output: Json, max: number): Json => {
  const text = typeof output === 'string' ? output : JSON.stringify(output)
  return text.length <= max ? output : `${text.slice(0, max)}\n[cut: ${text.length} characters, ${max} are shown]`
}

const checked = (tool: Tool, output: Json, deps: AgentDeps): void => {
  const issues = tool.output === undefined ? [] : deps.check(tool.output, output)
  if (issues.length > 0)
    throw new TrihandError('TOOL_FAILED', `its output does not match its schema: ${issues.slice(0, 3).join('; ')}`)
}

/** True if the engine must handle the failure: it retries what may be retried, and asks a person where the outcome is unknown. */
const belongsToEngine = (tool: Tool, error: unknown, signal: AbortSignal): boolean => {
  if (signal.aborted) return true
  // tool-call-2
  if (tool.effect === 'once') return !isDefinite(error)
  return error instanceof TrihandError && error.retryable
}

export interface ToolJob {
  readonly tool: Tool
  readonly input: Json
  readonly key: string
  readonly module: Module | null
  readonly state: AgentState
}

/** The body of the step. Throws only failures that the engine must handle. */
export const callTool = async (job: ToolJob, context: StepContext, deps: AgentDeps): Promise<ToolOutcome> => {
  const { tool, input, state } = job
  const started = deps.clock.now()
  const open = () => deps.workspaces.open(job.key, [...state.files.values()])
  const workspace = new LazyWorkspace(open, tool.effect === 'none')
  try {
    const fetch = deps.fetchFor(job.module)
    const { signal, effectKey } = context
    const output = toJson(await tool.run(input, { effectKey, signal, workspace, fetch }))
    if (tool.effect !== 'once') checked(tool, output, deps)
    return {
      ...NO_OUTCOME,
      output: cut(output, tool.maxOutputChars ?? MAX_OUTPUT_CHARS),
      files: await workspace.commit(),
      untrusted: tool.untrusted ?? false,
      ms: deps.clock.now() - started,
    }
  } catch (error) {
    if (belongsToEngine(tool, error, context.signal)) throw error
    return { ...failureOf(error), untrusted: tool.untrusted ?? false, ms: deps.clock.now() - started }
  } finally {
    await workspace.close()
  }
}

const isOutcome = (value: Json): boolean =>
  value !== null && typeof value === 'object' && 'denied' in value && 'files' in value

const HAPPENED = 'A person says that it happened; its answer was lost.'

/** The recorded outcome of a call: the result of the tool's step, or what a person answered in its place. */
export const outcomeOf = (value: Json): ToolOutcome =>
  isOutcome(value) ? (value as unknown as ToolOutcome) : { ...NO_OUTCOME, output: value ?? HAPPENED }

/** The code of a step that failed for good. */
export const codeOf = (error: unknown): ErrorCode => {
  const code = (error as { readonly code?: unknown } | null)?.code
  return typeof code === 'string' && isErrorCode(code) ? code : 'TOOL_FAILED'
}
