/**
 * Lets another agent harness take the place of one model call: the harness may call its model and use its own tools many times before it
 * answers.
 *
 * backend-1  Never throws: a failure is an answer with a code.
 * backend-2  It runs no tool call by itself unless `judge` answered `run` for that call at that moment.
 * backend-3  A call that `judge` leaves to the engine ends the backend's work; it continues from the transcript once it receives the
 *            result.
 */
import type { Json } from '#model/kernel/json.ts'
import type { Chunk, ModelReply, ToolSpec } from './model.ts'
import type { Workspace } from './tool.ts'

export interface AgentBackend {
  work(job: BackendJob, signal: AbortSignal): Promise<BackendReply>
  /** Removes the data that the backend kept outside the ledger for a run that has ended. */
  forget(key: string): Promise<void>
}

/** How the work starts, or from where it continues. */
export type BackendStart =
  | { readonly kind: 'task'; readonly text: string }
  /** The answer to the call that the backend had left to the engine. */
  | { readonly kind: 'result'; readonly transcript: string; readonly result: CallResult }
  | { readonly kind: 'say'; readonly transcript: string; readonly text: string }

export interface CallResult {
  readonly text: string
  readonly isError: boolean
}

/** `run`: the backend runs the call itself, now. `leave`: the engine runs it, and the backend's work ends until then. */
export type Verdict =
  | { readonly kind: 'run' }
  | { readonly kind: 'leave' }
  | { readonly kind: 'refuse'; readonly reason: string }

export interface BackendJob {
  /** Names the directory of the backend. */
  readonly key: string
  /** A uuid, the same at every wake. */
  readonly session: string
  /** The number of the reply that this will be. */
  readonly turn: number
  readonly model: string
  readonly system: string
  readonly start: BackendStart
  /** The backend's own tools that it may use. */
  readonly native: readonly string[]
  /** Our tools that are offered to it. */
  readonly tools: readonly ToolSpec[]
  readonly limits: BackendLimits
  readonly workspace: Workspace
  judge(tool: string, input: Json): Verdict
  /** Performs a call that `judge` allowed, of a tool that is ours. */
  perform(tool: string, input: Json): Promise<CallResult>
  emitChunk(delta: Chunk): void
}

export interface BackendLimits {
  readonly turns: number
  readonly calls: number
  readonly tokens: number
  /** Micro-dollars; null: not limited. */
  readonly micros: number | null
  readonly outputTokens: number
}

export interface BackendReply {
  readonly reply: ModelReply
  /** Everything that was said in the session so far; null: nothing was said. */
  readonly transcript: string | null
  /** The numbers of the backend's own model calls and tool calls. */
  readonly turns: number
  readonly calls: number
  /** The cost that the backend reports, in dollars; null: it does not know. */
  readonly costUsd: number | null
  /** The backend continued from what a lost attempt had left, and counts that in. */
  readonly isResumed: boolean
}

/** Makes a backend for a system. Loads nothing before the backend works. */
export type BackendFactory = (place: BackendPlace) => AgentBackend

export interface BackendPlace {
  /** The backend's own directory. */
  readonly root: string
  readonly environment: Readonly<Record<string, string | undefined>>
}
