/**
 * Tools of MCP servers: lists what they offer, and calls the tools that were recorded.
 *
 * Owns their names, their effects (the manifest's setting, else the server's hints, else `once`) and the conversion of answers. A hint never
 * removes an approval. The package is loaded on first use.
 */
import type { CallToolResult, Client } from '@modelcontextprotocol/client'
import type { McpServer } from '#model/agent/agent.ts'
import type { ToolEffect } from '#model/agent/tool-source.ts'
import { TrihandError } from '#model/kernel/errors.ts'
import { canonical, type Json, toJson } from '#model/kernel/json.ts'
import type { Tool } from '#ports/tool.ts'
import type { ServedTool, ToolServers } from '#ports/tool-servers.ts'
import { McpConnection, type McpSettings } from './mcp-connection.ts'

export interface McpToolsSettings extends McpSettings {
  readonly callMs?: number
}

const LIST_MS = 10_000
const CALL_MS = 60_000

interface Hints {
  readonly readOnlyHint?: boolean | undefined
  readonly idempotentHint?: boolean | undefined
}

const nameOf = (server: McpServer, tool: string): string => `mcp__${server.name}__${tool}`

const effectOf = ({ readOnlyHint, idempotentHint }: Hints): ToolEffect => {
  if (readOnlyHint === true) return 'none'
  return idempotentHint === true ? 'idempotent' : 'once'
}

const offered = async (server: McpServer, client: Client, signal: AbortSignal): Promise<readonly ServedTool[]> => {
  const { tools } = await client.listTools(undefined, { signal, timeout: LIST_MS })
  return tools
    .filter(({ name }) => server.tools === null || Object.hasOwn(server.tools, name))
    .map(({ name, description = '', inputSchema, annotations = {} }) => ({
      name: nameOf(server, name),
      description,
      input: toJson(inputSchema),
      effect: effectOf(annotations),
    }))
    .sort((a, b) => (a.name < b.name ? -1 : 1))
}

/** Names, input schemas and effects count; a changed description does not. */
const isUnchanged = (recorded: ServedTool, current: ServedTool | undefined): boolean =>
  current !== undefined && current.effect === recorded.effect && canonical(current.input) === canonical(recorded.input)

export const mcpTools = (settings: McpToolsSettings): ToolServers => {
  const connections = new Map<string, McpConnection>()
  const timeout = settings.callMs ?? CALL_MS
  const connectionTo = (server: McpServer): McpConnection => {
    const key = canonical(toJson(server))
    const known = connections.get(key) ?? new McpConnection(server, settings)
    connections.set(key, known)
    return known
  }
  const list: ToolServers['list'] = (server, signal) =>
    connectionTo(server).use((client) =>
      offered(server, client, signal).catch((error: unknown) => {
        throw given(signal) ?? lost(server, error, 'not_done')
      }),
    )
  const call = (server: McpServer, recorded: ServedTool, input: Json, signal: AbortSignal): Promise<Json> =>
    connectionTo(server).use(async (client) => {
      const now = await offered(server, client, signal).catch((error: unknown) => {
        throw given(signal) ?? lost(server, error, 'not_done')
      })
      // tool-servers-1
      if (
        !isUnchanged(
          recorded,
          now.find(({ name }) => name === recorded.name),
        )
      ) {
        throw new TrihandError('TOOL_CHANGED', `${recorded.name} has changed since it was shown to the agent`)
      }
      const name = recorded.name.slice(nameOf(server, '').length)
      const args = typeof input === 'object' && input !== null ? { ...input } : {}
      try {
        return answerOf(await client.callTool({ name, arguments: args }, { signal, timeout }))
      } catch (error) {
        throw given(signal) ?? refusal(error) ?? lost(server, error, 'unknown')
      }
    })
  return {
    list,
    tools: (server, recorded) => recorded.map((tool) => toolOf(server, tool, call)),
    close: async () => {
      await Promise.all([...connections.values()].map((connection) => connection.close()))
    },
  }
}

type Call = (server: McpServer, recorded: ServedTool, input: Json, signal: AbortSignal) => Promise<Json>

const EFFECTS: readonly string[] = ['none', 'idempotent', 'once'] satisfies readonly ToolEffect[]
const isEffect = (effect: string | undefined): effect is ToolEffect => effect !== undefined && EFFECTS.includes(effect)

const toolOf = (server: McpServer, recorded: ServedTool, call: Call): Tool => {
  const { name, description, input } = recorded
  const own = server.tools?.[name.slice(nameOf(server, '').length)]
  return {
    name,
    description,
    input,
    effect: isEffect(own?.effect) ? own.effect : recorded.effect,
    ...(own?.approval === undefined ? {} : { approval: own.approval }),
    egress: !server.trusted,
    untrusted: !server.trusted,
    timeoutMs: CALL_MS,
    run: (value, { signal }) => call(server, recorded, value, signal),
  }
}

/** The caller's reason if the call was aborted; null otherwise. */
const given = (signal: AbortSignal): unknown => (signal.aborted ? signal.reason : null)

/** Codes of JSON-RPC for a call that was not understood, and so not performed. */
const NOT_BEGUN: readonly unknown[] = [-32600, -32601, -32602]

/** The server has answered with an error of the protocol; the connection is intact. */
const refusal = (error: unknown): TrihandError | null => {
  if (!(error instanceof Error) || error.name !== 'ProtocolError') return null
  const isDefinite = 'code' in error && NOT_BEGUN.includes(error.code)
  return new TrihandError('TOOL_FAILED', error.message, { cause: error, outcome: isDefinite ? 'not_done' : 'unknown' })
}

const lost = (server: McpServer, error: unknown, outcome: 'not_done' | 'unknown'): TrihandError => {
  if (error instanceof TrihandError) return error
  const why = error instanceof Error ? error.message : String(error)
  return new TrihandError('TOOL_UNAVAILABLE', `the MCP server ${server.name} gave no answer: ${why}`, {
    cause: error,
    outcome,
  })
}

type Content = CallToolResult['content'][number]

const textOf = (content: Content): string => {
  switch (content.type) {
    case 'text':
      return content.text
    case 'image':
    case 'audio':
      return `[${content.type} ${content.mimeType}, ${content.data.length} characters of base64]`
    case 'resource_link':
      return `[${content.name}: ${content.uri}]`
    case 'resource':
      return 'text' in content.resource ? content.resource.text : `[${content.resource.uri}]`
  }
}

/** Structured if the server sends it so, else text. An error of the tool is a result: the model reads it. */
const answerOf = ({ structuredContent, content, isError }: CallToolResult): Json => {
  const text = content.map(textOf).join('\n')
  if (isError === true) return { is_error: true, message: text }
  return structuredContent === undefined ? text : toJson(structuredContent)
}
