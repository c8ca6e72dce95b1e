/**
 * `tool(…)`: declares a tool, with the types of its input and its surroundings.
 *
 * Owns the form only. Mistakes in a tool are reported when its system is defined (manifest/define/tools.ts).
 */
import type { ToolContext, ToolEffect } from '#ports/tool.ts'

export interface ToolOptions {
  readonly description?: string
  /** A JSON Schema, or a schema whose library can convert it to one. */
  readonly input?: unknown
  readonly output?: unknown
  /** Its effect on the outside: none, idempotent under one key, or one that must not happen twice. */
  readonly effect: ToolEffect
  readonly approval?: boolean | string
  readonly egress?: boolean
  readonly untrusted?: boolean
  readonly timeoutMs?: number
  readonly maxOutputChars?: number
}

export interface DeclaredTool extends ToolOptions {
  readonly name: string
  readonly run: (input: never, context: never) => unknown
}

/** Declares a tool that agents may be allowed to use. */
export const tool = <Input = unknown>(
  name: string,
  options: ToolOptions,
  run: (input: Input, context: ToolContext) => unknown,
): DeclaredTool => ({ ...options, name, run: run as DeclaredTool['run'] })
