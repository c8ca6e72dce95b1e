/**
 * Serves our tools to the SDK: an MCP server in this process that answers the three messages the SDK sends.
 *
 * Owns the tools' names there and that small protocol. The job performs the calls.
 */
import { type Json, toJson } from '#model/kernel/json.ts'
import type { BackendJob } from '#ports/agent-backend.ts'
import type { SdkServer, SdkTransport } from './sdk.ts'

const SERVER = 'trihand'
const PREFIX = `mcp__${SERVER}__`
const NO_METHOD = -32_601

export const servedName = (tool: string): string => `${PREFIX}${tool}`

/** The tool's own name; null: it is not one of ours. */
export const ownName = (name: string): string | null => (name.startsWith(PREFIX) ? name.slice(PREFIX.length) : null)

interface Asked {
  readonly id?: string | number
  readonly method?: string
  readonly params?: { readonly protocolVersion?: string; readonly name?: string; readonly arguments?: unknown }
}

type Answers = { readonly result: Json } | { readonly error: { readonly code: number; readonly message: string } }

const answerTo = async ({ method, params }: Asked, { tools, perform }: Served): Promise<Answers> => {
  switch (method) {
    case 'initialize':
      return {
        result: {
          protocolVersion: params?.protocolVersion ?? '2025-06-18',
          capabilities: { tools: {} },
          serverInfo: { name: SERVER, version: '1' },
        },
      }
    case 'tools/list':
      return {
        result: { tools: tools.map(({ name, description, input }) => ({ name, description, inputSchema: input })) },
      }
    case 'tools/call': {
      const { text, isError } = await perform(params?.name ?? '', toJson(params?.arguments ?? {}))
      return { result: { content: [{ type: 'text', text }], isError } }
    }
    default:
      return { error: { code: NO_METHOD, message: `${method} is not known here` } }
  }
}

type Served = Pick<BackendJob, 'tools' | 'perform'>

const answered = async (asked: Asked, served: Served): Promise<Answers> => {
  try {
    return await answerTo(asked, served)
  } catch (error) {
    const text = error instanceof Error ? error.message : String(error)
    return { result: { content: [{ type: 'text', text }], isError: true } }
  }
}

/** Empty if the job has no tools of ours. */
export const serversFor = (served: Served): Readonly<Record<string, SdkServer>> => {
  if (served.tools.length === 0) return {}
  const connect = async (transport: SdkTransport): Promise<void> => {
    transport.onmessage = (message) => {
      const asked = message as Asked
      if (asked.id === undefined) return
      void answered(asked, served).then((answer) => transport.send({ jsonrpc: '2.0', id: asked.id, ...answer }))
    }
    await transport.start?.()
  }
  return {
    [SERVER]: { type: 'sdk', name: SERVER, alwaysLoad: true, instance: { connect, close: async () => {} } },
  }
}
