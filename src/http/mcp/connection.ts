/**
 * The connection from an MCP server to the HTTP API, in this process or over a socket.
 *
 * Owns the identity of the caller. Loads nothing: mounting the MCP server must not load its library.
 *
 * mcp-2  The caller is an agent, on loopback and with a token of any kind.
 */
import type { Problem } from '#http/server/problem.ts'
import type { Call } from './operation.ts'

export interface ApiConnection {
  /** Returns what the API answers; throws only if no server answers. */
  ask(call: Call): Promise<Answered>
  /** The address under which people open pages; null: no server is running. */
  readonly pages: string | null
}

export type Answered =
  | { readonly isOk: true; readonly document: unknown }
  | { readonly isOk: false; readonly problem: Problem }

/** mcp-2: the headers that identify callers of tools to the API. */
export const CALLER = { 'x-trihand-user': 'mcp', 'x-trihand-kind': 'agent' } as const
