/**
 * `trihand mcp`: the system as an MCP server on stdin and stdout, for a program that starts this process.
 *
 * Owns the bridge from stdin and stdout to the API. Only MCP messages are written to stdout.
 */
import { once } from 'node:events'
import { serveStdio } from '@modelcontextprotocol/server/stdio'
import type { Api } from '#cli/connect/api.ts'
import { withApi } from '#cli/connect/connect.ts'
import { EXIT, Refused } from '#cli/terminal/output.ts'
import type { CommonFlags, Verb } from '#cli/terminal/shell.ts'
import { VERSION } from '#cli/version.ts'
import { type Answered, type ApiConnection, CALLER } from '#http/mcp/connection.ts'
import type { ApiDocument, Call } from '#http/mcp/operation.ts'
import { createMcpServer } from '#http/mcp/server.ts'

const asked = async (api: Api, { method, path, body }: Call): Promise<Answered> => {
  try {
    const document = method === 'GET' ? await api.get(path, CALLER) : await api.post(path, body ?? {}, CALLER)
    return { isOk: true, document }
  } catch (error) {
    if (error instanceof Refused) return { isOk: false, problem: error.problem }
    throw error
  }
}

export const mcp: Verb<CommonFlags> = (shell, flags) =>
  withApi(shell, flags, { need: 'work', mayCreate: true }, async (api) => {
    const document = await api.get<ApiDocument>('/openapi.json')
    const door: ApiConnection = { pages: api.url, ask: (call) => asked(api, call) }
    const serving = serveStdio(() => createMcpServer(door, { version: VERSION, document }))
    await once(process.stdin, 'end')
    await serving.close()
    return EXIT.done
  })
