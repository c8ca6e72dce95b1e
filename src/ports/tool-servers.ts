/**
 * Tools of separate servers (MCP): listed when an agent starts, called later as they were recorded.
 *
 * tool-servers-1  What a server offers is read once and recorded; a tool that no longer matches its record is not called (TOOL_CHANGED).
 * tool-servers-2  A server that does not answer is TOOL_UNAVAILABLE; the error's `outcome` says whether the call was done.
 */
import type { McpServer } from '#model/agent/agent.ts'
import type { ToolEffect } from '#model/agent/tool-source.ts'
import type { Json } from '#model/kernel/json.ts'
import type { Tool } from './tool.ts'

/** A tool as its server described it: plain JSON, to be recorded. */
export interface ServedTool {
  /** Its name for agents: `mcp__<server>__<tool>`. */
  readonly name: string
  readonly description: string
  readonly input: Json
  /** From the server's hints; the manifest's own setting wins. */
  readonly effect: ToolEffect
}

export interface ToolServers {
  /** Returns the tools that a server offers now, ordered by name. */
  list(server: McpServer, signal: AbortSignal): Promise<readonly ServedTool[]>
  /** Returns the recorded tools, ready to be called. Opens no connection yet. */
  tools(server: McpServer, recorded: readonly ServedTool[]): readonly Tool[]
  close(): Promise<void>
}
