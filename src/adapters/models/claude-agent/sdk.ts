/**
 * The part of the Claude Agent SDK that we call, in our own types: the package is an optional peer, and we build without it.
 *
 * Owns these shapes, as observed with 0.3. Loads only the package itself, on first use.
 */
import { loadPeer } from '#adapters/peer.ts'

export interface ClaudeSdk {
  query(request: { readonly prompt: SdkPrompt; readonly options: SdkOptions }): AsyncIterable<SdkMessage>
}

/** An iterable that yields nothing only keeps the session open. */
export type SdkPrompt = string | AsyncIterable<never>

export interface SdkOptions {
  readonly abortController: AbortController
  readonly cwd: string
  readonly model: string
  readonly systemPrompt: string
  /** Its built-in tools, exactly these. `allowedTools` is never set: it skips the check of paths. */
  readonly tools: readonly string[]
  /** Empty: settings and instructions of the directory are not read. */
  readonly settingSources: readonly never[]
  readonly permissionMode: 'default'
  readonly strictMcpConfig: true
  readonly mcpServers: Readonly<Record<string, SdkServer>>
  readonly hooks: { readonly PreToolUse: readonly [{ readonly hooks: readonly [SdkHook] }] }
  readonly sessionStore: SdkSessionStore
  readonly sessionStoreFlush: 'eager'
  readonly includePartialMessages: true
  readonly env: Readonly<Record<string, string>>
  readonly maxTurns: number
  readonly maxBudgetUsd?: number
  readonly sessionId?: string
  readonly resume?: string
}

/** A server inside this process; the SDK needs only its connection. */
export interface SdkServer {
  readonly type: 'sdk'
  readonly name: string
  readonly alwaysLoad: true
  readonly instance: { connect(transport: SdkTransport): Promise<void>; close(): Promise<void> }
}

export interface SdkTransport {
  onmessage?: (message: unknown) => void
  send(message: unknown): Promise<void>
  start?(): Promise<void>
}

export type SdkHook = (input: SdkHookInput) => Promise<SdkHookAnswer>

export interface SdkHookInput {
  readonly tool_name: string
  readonly tool_input: unknown
}

export interface SdkHookAnswer {
  readonly hookSpecificOutput: {
    readonly hookEventName: 'PreToolUse'
    readonly permissionDecision: 'allow' | 'deny' | 'defer'
    readonly permissionDecisionReason?: string
  }
}

/** A line of a transcript. The SDK requires it back unchanged. */
export interface Entry {
  readonly type: string
  readonly uuid?: string
  readonly parentUuid?: string | null
  readonly timestamp?: string
  readonly isApiErrorMessage?: boolean
  readonly attachment?: {
    readonly type?: string
    readonly toolUseID?: string
    readonly toolName?: string
    readonly toolInput?: unknown
  }
  readonly message?: SdkSpoken
  readonly totalCostUSD?: number
  readonly modelUsage?: Readonly<Record<string, SdkModelUse>>
  readonly [key: string]: unknown
}

export interface SdkSpoken {
  readonly id?: string
  readonly model?: string
  readonly content?: string | readonly SdkBlock[]
  readonly usage?: SdkUsage
}

export interface SdkBlock {
  readonly type: string
  readonly text?: string
  readonly id?: string
  readonly name?: string
  readonly input?: unknown
  readonly tool_use_id?: string
}

interface SdkUsage {
  readonly input_tokens?: number
  readonly output_tokens?: number
  readonly cache_read_input_tokens?: number
  readonly cache_creation_input_tokens?: number
}

/** The usage of one model, for the whole session. */
export interface SdkModelUse {
  readonly inputTokens: number
  readonly outputTokens: number
  readonly cacheReadInputTokens: number
  readonly cacheCreationInputTokens: number
}

export interface SdkSessionStore {
  append(key: { readonly subpath?: string }, entries: readonly Entry[]): Promise<void>
  load(key: { readonly subpath?: string }): Promise<readonly Entry[] | null>
}

export interface SdkMessage {
  readonly type: string
  readonly subtype?: string
  /** In `system/init` messages. */
  readonly tools?: readonly string[]
  readonly message?: SdkSpoken
  /** In `stream_event` messages. */
  readonly event?: {
    readonly type?: string
    readonly delta?: { readonly type?: string; readonly text?: string; readonly thinking?: string }
  }
  // In `result` messages.
  readonly result?: string
  readonly is_error?: boolean
  readonly stop_reason?: string | null
  readonly terminal_reason?: string
  readonly api_error_status?: number | null
  readonly api_error?: string
  readonly errors?: readonly string[]
  readonly deferred_tool_use?: { readonly id: string; readonly name: string; readonly input: unknown }
  readonly total_cost_usd?: number
  readonly modelUsage?: Readonly<Record<string, SdkModelUse>>
}

const PEER: string = '@anthropic-ai/claude-agent-sdk'

export const loadSdk = (): Promise<ClaudeSdk> => loadPeer(PEER, () => import(PEER) as Promise<ClaudeSdk>)
