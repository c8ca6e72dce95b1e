/**
 * A stand-in for the Claude Agent SDK with its protocol, as observed with version 0.3: transcripts, hooks, deferrals, totals.
 *
 * Owns that protocol for tests. Its model is a function, and it counts what it would have been paid for. The real SDK runs the same
 * scenarios (test/integration/agents/claude-agent.test.ts).
 */
import { writeFile } from 'node:fs/promises'
import type {
  ClaudeSdk,
  Entry,
  SdkBlock,
  SdkMessage,
  SdkOptions,
  SdkPrompt,
  SdkTransport,
} from '#adapters/models/claude-agent/sdk.ts'
import { unsavedUsage } from '#adapters/models/claude-agent/transcript.ts'

export interface FakeSdk extends ClaudeSdk {
  /** Model calls so far. */
  paid: number
  readonly asked: SdkOptions[]
  readonly prompts: string[]
}

export type FakeBlock = { readonly text: string } | { readonly call: string; readonly input: unknown }
/** Throws to break off in the middle of a call. */
export type FakeModel = (
  received: string,
  n: number,
  options: SdkOptions,
) => readonly FakeBlock[] | Promise<readonly FakeBlock[]>

export interface FakeFaults {
  /** Replaces the answer to call `n`. */
  readonly status?: (n: number) => number | null
  /** Additional to the given tools. */
  readonly tools?: readonly string[]
}

const USE = { input_tokens: 100, output_tokens: 20, cache_read_input_tokens: 0, cache_creation_input_tokens: 0 }
const USD = 0.0002

const callServed = async (options: SdkOptions, name: string, input: unknown): Promise<string> => {
  const answers = new Map<number, (value: unknown) => void>()
  const transport: SdkTransport = {
    send: async (message) => {
      const { id, result } = message as { readonly id: number; readonly result: unknown }
      answers.get(id)?.(result)
    },
  }
  await options.mcpServers['trihand']?.instance.connect(transport)
  const ask = (id: number, method: string, params: unknown): Promise<unknown> =>
    new Promise((resolve) => {
      answers.set(id, resolve)
      transport.onmessage?.({ jsonrpc: '2.0', id, method, params })
    })
  await ask(1, 'initialize', { protocolVersion: '2025-06-18' })
  const { content } = (await ask(2, 'tools/call', { name, arguments: input })) as {
    readonly content: readonly { readonly text: string }[]
  }
  return content.map(({ text }) => text).join('')
}

class Session {
  private readonly sdk: FakeSdk
  private readonly options: SdkOptions
  private readonly model: FakeModel
  private readonly faults: FakeFaults
  private entries: Entry[] = []
  private ids = 0
  private loaded = 0
  private readonly out: SdkMessage[] = []

  constructor(sdk: FakeSdk, options: SdkOptions, model: FakeModel, faults: FakeFaults) {
    this.sdk = sdk
    this.options = options
    this.model = model
    this.faults = faults
  }

  async *run(prompt: SdkPrompt): AsyncGenerator<SdkMessage> {
    const { resume, sessionStore, tools, mcpServers } = this.options
    if (resume !== undefined) this.entries = [...((await sessionStore.load({})) ?? [])]
    if (resume !== undefined && this.entries.length === 0) throw new Error(`No conversation found with ${resume}`)
    this.loaded = this.entries.length
    if (typeof prompt === 'string') {
      this.sdk.prompts.push(prompt)
      await this.add({ type: 'user', message: { content: [{ type: 'text', text: prompt }] } })
    }
    const listed = Object.keys(mcpServers).length === 0 ? [] : await this.served()
    yield { type: 'system', subtype: 'init', tools: [...tools, ...listed, ...(this.faults.tools ?? [])] }
    for (let turn = 0; ; turn++) {
      if (this.options.abortController.signal.aborted) throw new Error('aborted by user')
      if (turn >= this.options.maxTurns) return yield* this.end({ subtype: 'error_max_turns', is_error: true })
      const result = await this.turn()
      yield* this.out.splice(0)
      if (result !== null) return yield* this.end(result)
    }
  }

  private async served(): Promise<readonly string[]> {
    const names: string[] = []
    const transport: SdkTransport = {
      send: async (message) => {
        const { result } = message as { readonly result: { readonly tools: readonly { readonly name: string }[] } }
        names.push(...result.tools.map(({ name }) => `mcp__trihand__${name}`))
      },
    }
    await this.options.mcpServers['trihand']?.instance.connect(transport)
    transport.onmessage?.({ id: 1, method: 'tools/list' })
    await new Promise((resolve) => setImmediate(resolve))
    return names
  }

  private async turn(): Promise<Partial<SdkMessage> | null> {
    const n = ++this.sdk.paid
    const status = this.faults.status?.(n) ?? null
    if (status !== null) return this.broken(status)
    const received = this.entries.flatMap(({ message }) => (Array.isArray(message?.content) ? message.content : []))
    const text = received
      .map((block: SdkBlock & { content?: unknown }) => block.text ?? String(block.content ?? ''))
      .join('\n')
    const blocks = await this.model(text, n, this.options)
    const id = `msg_${n}`
    for (const [i, block] of blocks.entries()) {
      const content: SdkBlock =
        'text' in block
          ? { type: 'text', text: block.text }
          : { type: 'tool_use', id: `toolu_${n}_${i}`, name: block.call, input: block.input }
      const message = { id, model: this.options.model, content: [content], usage: USE }
      await this.add({ type: 'assistant', message })
      this.out.push({ type: 'assistant', message })
    }
    const { maxBudgetUsd } = this.options
    if (maxBudgetUsd !== undefined && USD * n > maxBudgetUsd)
      return { subtype: 'error_max_budget_usd', is_error: true, errors: ['Reached maximum budget'] }
    return this.useTools(n, blocks)
  }

  private async useTools(n: number, blocks: readonly FakeBlock[]): Promise<Partial<SdkMessage> | null> {
    let left: NonNullable<SdkMessage['deferred_tool_use']> | null = null
    let calls = 0
    for (const [i, block] of blocks.entries()) {
      if ('text' in block) continue
      calls++
      const id = `toolu_${n}_${i}`
      const { call: name, input } = block
      const decided = await this.options.hooks.PreToolUse[0].hooks[0]({ tool_name: name, tool_input: input })
      const { permissionDecision, permissionDecisionReason = '' } = decided.hookSpecificOutput
      if (permissionDecision === 'defer') {
        left = { id, name, input }
        await this.add({
          type: 'attachment',
          attachment: { type: 'hook_deferred_tool', toolUseID: id, toolName: name, toolInput: input },
        })
        continue
      }
      const said = permissionDecision === 'deny' ? permissionDecisionReason : await this.perform(name, input)
      const content = [{ type: 'tool_result', tool_use_id: id, content: said }]
      await this.add({ type: 'user', message: { content } })
    }
    if (left !== null)
      return { subtype: 'success', result: '', terminal_reason: 'tool_deferred', deferred_tool_use: left }
    const result = blocks.flatMap((block) => ('text' in block ? [block.text] : [])).join('')
    return calls > 0 ? null : { subtype: 'success', result }
  }

  private async perform(name: string, input: unknown): Promise<string> {
    if (name.startsWith('mcp__trihand__')) return callServed(this.options, name.slice('mcp__trihand__'.length), input)
    const { file_path, content } = input as { readonly file_path: string; readonly content?: string }
    if (name === 'Write') await writeFile(`${this.options.cwd}/${file_path}`, content ?? '')
    return `${name} has done it`
  }

  private async broken(status: number): Promise<Partial<SdkMessage>> {
    const message = { id: `error_${status}`, content: [{ type: 'text', text: `API Error: ${status}` }] }
    await this.add({ type: 'assistant', isApiErrorMessage: true, message })
    return { subtype: 'success', is_error: true, result: `API Error: ${status}`, api_error_status: status }
  }

  private async *end(result: Partial<SdkMessage>): AsyncGenerator<SdkMessage> {
    const saved = this.entries.findLast(({ type }) => type === 'cost-state')
    // Its totals leave out what an earlier session had not saved.
    const fresh = unsavedUsage(this.entries.slice(this.loaded))
    const calls = fresh.output / USE.output_tokens
    const before = saved?.modelUsage?.[this.options.model]
    const modelUsage = {
      [this.options.model]: {
        inputTokens: (before?.inputTokens ?? 0) + fresh.input,
        outputTokens: (before?.outputTokens ?? 0) + fresh.output,
        cacheReadInputTokens: 0,
        cacheCreationInputTokens: 0,
      },
    }
    const total = (saved?.totalCostUSD ?? 0) + calls * USD
    await this.add({ type: 'cost-state', totalCostUSD: total, modelUsage })
    yield { type: 'result', is_error: false, ...result, total_cost_usd: total, modelUsage }
    if (result.is_error === true) throw new Error(`returned an error result: ${result.result ?? result.errors?.join()}`)
  }

  private async add(entry: Entry): Promise<void> {
    const parentUuid = this.entries.findLast(({ uuid }) => uuid !== undefined)?.uuid ?? null
    const written =
      entry.type === 'cost-state' ? entry : { ...entry, uuid: `u${this.sdk.paid}-${this.ids++}`, parentUuid }
    this.entries.push(written)
    await this.options.sessionStore.append({}, [written])
  }
}

export const fakeSdk = (model: FakeModel, faults: FakeFaults = {}): FakeSdk => {
  const sdk: FakeSdk = {
    paid: 0,
    asked: [],
    prompts: [],
    query: ({ prompt, options }) => {
      sdk.asked.push(options)
      return new Session(sdk, options, model, faults).run(prompt)
    },
  }
  return sdk
}
