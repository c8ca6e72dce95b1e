/**
 * A tool that an agent may call: its description, its effect on the world, and its code.
 *
 * The implementation declares its effect; only the broker decides whether a call is performed.
 */
import type { ToolEffect } from '#model/agent/tool-source.ts'
import type { Json } from '#model/kernel/json.ts'

export interface Tool {
  readonly name: string
  readonly description: string
  /** JSON Schema; checked before every call. */
  readonly input: Json
  readonly output?: Json
  readonly effect: ToolEffect
  /** True, or a CEL rule over `input`: a person approves the call first. */
  readonly approval?: boolean | string
  /** It sends something to the outside. */
  readonly egress?: boolean
  /** What it returns was written by strangers. */
  readonly untrusted?: boolean
  readonly timeoutMs?: number
  readonly maxOutputChars?: number
  run(input: Json, context: ToolContext): Promise<Json> | Json
}

/** What the code of a tool receives besides its input. */
export interface ToolContext {
  /** One key for every attempt of this call. */
  readonly effectKey: string
  /** Aborted when the call should stop. */
  readonly signal: AbortSignal
  /** The files of the agent's run. */
  readonly workspace: Workspace
  /** Requests only the hosts that the module allows, never our own network. */
  readonly fetch: (url: string, init?: ToolFetch) => Promise<ToolResponse>
}

export interface ToolFetch {
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | Uint8Array
  readonly signal?: AbortSignal
}

export interface ToolResponse {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly text: string
}

export interface RawFetch extends ToolFetch {
  /** How a redirect is handled: followed (default), treated as a failure, or returned as the answer. */
  readonly redirect?: 'follow' | 'error' | 'manual'
}

/** An answer as it arrived, with its whole body. */
export interface RawAnswer {
  readonly url: string
  readonly redirected: boolean
  readonly status: number
  readonly statusText: string
  readonly headers: readonly (readonly [name: string, value: string])[]
  readonly bytes: Uint8Array
}

/** The same way out, for callers that need the whole answer. */
export type RawRequest = (url: string, init?: RawFetch) => Promise<RawAnswer>

/** Files of one agent step, by path relative to its root. No path leads out of it. */
export interface Workspace {
  read(path: string): Promise<Uint8Array>
  write(path: string, bytes: Uint8Array): Promise<void>
  remove(path: string): Promise<void>
  /** Every file, in the order of paths. */
  list(): Promise<readonly { readonly path: string; readonly bytes: number }[]>
}
