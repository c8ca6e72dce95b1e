/**
 * Another agent's harness in the place of one model call: it may ask its model and use its own tools many times before it answers.
 *
 * backend-1  Never throws: what goes wrong is an answer with a code.
 * backend-2  It makes no call by itself that was not judged, at that moment, to be run by it.
 * backend-3  A call that is left to us ends its work; it goes on from the transcript once it is told the result.
 */
import type { Json } from '#model/kernel/json.ts'
import type { Delta, ModelReply, ToolSpec } from './model.ts'
import type { Workspace } from './tool.ts'

export interface AgentBackend {
  work(job: BackendJob, signal: AbortSignal): Promise<BackendReply>
  /** Removes what it kept beside the ledger for a run that has ended. */
  forget(key: string): Promise<void>
}

/** How it begins, or from where it goes on. */
export type BackendStart =
  | { readonly kind: 'task'; readonly text: string }
  /** The answer to the call that it had left to us. */
  | { readonly kind: 'result'; readonly transcript: string; readonly result: CallResult }
  | { readonly kind: 'say'; readonly transcript: string; readonly text: string }

export interface CallResult {
  readonly text: string
  readonly isError: boolean
}

/** `run`: by itself, now. `leave`: to us, and it ends until then. */
export type Verdict =
  | { readonly kind: 'run' }
  | { readonly kind: 'leave' }
  | { readonly kind: 'refuse'; readonly reason: string }

export interface BackendJob {
  /** Names its directory. */
  readonly key: string
  /** A uuid, the same at every wake. */
  readonly session: string
  /** Which reply this will be. */
  readonly turn: number
  readonly model: string
  readonly system: string
  readonly start: BackendStart
  /** Its own tools that it may use. */
  readonly native: readonly string[]
  /** Ours, which it is offered. */
  readonly tools: readonly ToolSpec[]
  readonly limits: BackendLimits
  readonly workspace: Workspace
  judge(tool: string, input: Json): Verdict
  /** Performs a call that `judge` let it run, of a tool that is ours. */
  perform(tool: string, input: Json): Promise<CallResult>
  tell(delta: Delta): void
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
  /** All that was said in the session so far; null: nothing was. */
  readonly transcript: string | null
  /** Its own model calls and tool calls. */
  readonly turns: number
  readonly calls: number
  /** What it says that it cost, in dollars; null: it does not know. */
  readonly costUsd: number | null
  /** It went on from what a lost attempt had left, and counts that in. */
  readonly isResumed: boolean
}

/** Makes one for a system. Nothing is loaded before it works. */
export type BackendFactory = (place: BackendPlace) => AgentBackend

export interface BackendPlace {
  /** Its own directory. */
  readonly root: string
  readonly environment: Readonly<Record<string, string | undefined>>
}
