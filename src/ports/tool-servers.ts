/**
 * Tools that live in servers of their own (MCP): asked what they offer when an agent begins, called later by what was recorded.
 *
 * tool-servers-1  What a server offers is read once and recorded; a tool that is no longer what was recorded is not called (TOOL_CHANGED).
 * tool-servers-2  A server that does not answer is TOOL_UNAVAILABLE; whether the call was done is said by the error's `outcome`.
 */
import type { McpServer } from '#model/agent/agent.ts'
import type { Json } from '#model/kernel/json.ts'
import type { Tool, ToolEffect } from './tool.ts'

/** A tool as its server described it: plain JSON, to be recorded. */
export interface ServedTool {
  /** As agents name it: `mcp__<server>__<tool>`. */
  readonly name: string
  readonly description: string
  readonly input: Json
  /** What the server's hints say; the manifest's word comes first. */
  readonly effect: ToolEffect
}

export interface ToolServers {
  /** What a server offers now, in the order of names. */
  list(server: McpServer, signal: AbortSignal): Promise<readonly ServedTool[]>
  /** The recorded tools, ready to be called. Talks to nobody yet. */
  tools(server: McpServer, recorded: readonly ServedTool[]): readonly Tool[]
  close(): Promise<void>
}
