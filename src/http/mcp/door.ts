/**
 * The HTTP interface as an MCP server reaches it, in this process or over a socket.
 *
 * Owns who the caller is taken for. Loads nothing: whoever mounts the server does not load its library.
 *
 * mcp-2  Who calls is an agent, on loopback and with a token of any kind.
 */
import type { Problem } from '#http/server/problem.ts'
import type { Call } from './operation.ts'

export interface Door {
  /** Answers what the interface answers; throws only if nobody does. */
  ask(call: Call): Promise<Answered>
  /** Under which address people open pages; null: no server is running. */
  readonly pages: string | null
}

export type Answered =
  | { readonly isOk: true; readonly document: unknown }
  | { readonly isOk: false; readonly problem: Problem }

/** mcp-2: what callers of tools are, for the interface. */
export const CALLER = { 'x-trihand-user': 'mcp', 'x-trihand-kind': 'agent' } as const
