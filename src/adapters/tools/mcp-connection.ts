/**
 * One connection to one MCP server: a child process on stdio, or HTTP to the declared origin. Opened on first use, kept while it is used,
 * closed when it has been idle for a while.
 *
 * Owns how a server is reached and with which environment. Does not know what its tools mean.
 */
import type { Client } from '@modelcontextprotocol/client'
import type { McpServer } from '#model/agent/agent.ts'
import { TrihandError } from '#model/kernel/errors.ts'

export interface McpSettings {
  /** Replaces references like `${NAME}` by values of the environment. */
  readonly resolve: (text: string) => string
  readonly connectMs?: number
  readonly idleMs?: number
}

const CONNECT_MS = 10_000
const IDLE_MS = 60_000
const LOG_TAIL = 500

const unavailable = (server: McpServer, why: string, cause: unknown): TrihandError =>
  new TrihandError('TOOL_UNAVAILABLE', `the MCP server ${server.name} ${why}`, { cause })

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

export class McpConnection {
  private readonly server: McpServer
  private readonly settings: McpSettings
  private opening: Promise<Client> | null = null
  private users = 0
  private idle: NodeJS.Timeout | null = null
  /** The end of what the child has written to stderr. */
  private lastWords = ''

  constructor(server: McpServer, settings: McpSettings) {
    this.server = server
    this.settings = settings
  }

  async use<Result>(act: (client: Client) => Promise<Result>): Promise<Result> {
    this.users++
    if (this.idle !== null) clearTimeout(this.idle)
    try {
      return await act(await this.client())
    } finally {
      this.users--
      if (this.users === 0) await this.rest()
    }
  }

  async close(): Promise<void> {
    if (this.idle !== null) clearTimeout(this.idle)
    const { opening } = this
    // Cleared first: a call during the close opens a new connection.
    this.opening = null
    const client = await opening?.catch(() => null)
    await client?.close()
  }

  private async rest(): Promise<void> {
    const { idleMs = IDLE_MS } = this.settings
    if (idleMs === 0) return this.close()
    this.idle = setTimeout(() => void this.close().catch(() => {}), idleMs).unref()
  }

  private async client(): Promise<Client> {
    const opening = this.opening ?? this.connect()
    this.opening = opening
    const forget = (): void => {
      if (this.opening === opening) this.opening = null
    }
    try {
      const client = await opening
      client.onclose = forget
      return client
    } catch (error) {
      forget()
      if (error instanceof TrihandError) throw error
      const words = this.lastWords === '' ? '' : `; its output: ${this.lastWords}`
      throw unavailable(this.server, `cannot be reached: ${messageOf(error)}${words}`, error)
    }
  }

  private async connect(): Promise<Client> {
    const { connectMs = CONNECT_MS } = this.settings
    const sdk = await import('@modelcontextprotocol/client')
    const client = new sdk.Client(
      { name: 'trihand', version: '1' },
      { versionNegotiation: { mode: 'auto', probe: { timeoutMs: connectMs } } },
    )
    try {
      await client.connect(await this.transport(sdk), { timeout: connectMs })
      return client
    } catch (error) {
      await client.close().catch(() => {})
      throw error
    }
  }

  private async transport(sdk: typeof import('@modelcontextprotocol/client')) {
    const { url, command, args, env } = this.server
    const { resolve } = this.settings
    if (url !== null) {
      const address = new URL(resolve(url))
      return new sdk.StreamableHTTPClientTransport(address, { fetch: fetchFrom(address.origin) })
    }
    if (command === null)
      throw new TrihandError('CONFIG_INVALID', `mcp_servers.${this.server.name}: it needs a url or a command`)
    const { StdioClientTransport } = await import('@modelcontextprotocol/client/stdio')
    const transport = new StdioClientTransport({
      command: resolve(command),
      args: args.map(resolve),
      // The SDK adds HOME, PATH, SHELL, TERM and the user's name; the child gets nothing else of our environment.
      env: Object.fromEntries(Object.entries(env).map(([name, value]) => [name, resolve(value)])),
      stderr: 'pipe',
    })
    transport.stderr?.on('data', (chunk: Buffer) => {
      this.lastWords = `${this.lastWords}${chunk}`.slice(-LOG_TAIL).trim()
    })
    return transport
  }
}

/** Fetches from the declared origin only; the operator declared it, so it may be internal. */
const fetchFrom =
  (origin: string) =>
  async (url: string | URL, init?: RequestInit): Promise<Response> => {
    if (new URL(url).origin !== origin) throw new TrihandError('URL_BLOCKED', `${url} is not at ${origin}`)
    return fetch(url, { ...init, redirect: 'error' })
  }
