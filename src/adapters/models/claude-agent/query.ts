/**
 * One query of the SDK, from its start to its result: what it may see, and what is read from its messages.
 *
 * Owns the options, each of which avoids a trap we have met, and the limits that the SDK does not have. Never retries.
 *
 * query-1  It sees no settings, no home and no variables but those that it is given.
 * query-2  It begins with exactly the tools that it was given, or it does not begin.
 */
import { realpath } from 'node:fs/promises'
import { join } from 'node:path'
import { TrihandError } from '#model/kernel/errors.ts'
import type { BackendJob, BackendPlace, BackendReply } from '#ports/agent-backend.ts'
import type { ModelReply } from '#ports/model.ts'
import { Guard } from './guard.ts'
import { type Failure, failedWith, outcomeOf, thrownAs } from './outcome.ts'
import type { Place } from './place.ts'
import type { ClaudeSdk, Entry, SdkMessage, SdkOptions, SdkPrompt, SdkSessionStore } from './sdk.ts'
import { servedName, serversFor } from './served.ts'
import { linesOf, mended, savedCost, unsavedUsage, usageSince, usedBy } from './transcript.ts'

/** How a query starts: with the first message of a session, with another message, or without one, from where the session stopped. */
export type Opening =
  | { readonly kind: 'begin'; readonly text: string }
  | { readonly kind: 'say'; readonly text: string }
  | { readonly kind: 'go_on' }

export interface Asking {
  readonly sdk: ClaudeSdk
  readonly job: BackendJob
  readonly place: Place
  readonly environment: BackendPlace['environment']
  readonly opening: Opening
  /** The transcript before this query. */
  readonly all: readonly Entry[]
}

const MICROS = 1_000_000

/** query-1. */
const variables = ({ home }: Place, { limits }: BackendJob, given: BackendPlace['environment']) => {
  const key = given['ANTHROPIC_API_KEY']
  if (!key) throw new TrihandError('ENV_MISSING', 'ANTHROPIC_API_KEY is not set, and the backend claude-agent needs it')
  const address = given['ANTHROPIC_BASE_URL']
  return {
    PATH: given['PATH'] ?? '',
    HOME: home,
    TMPDIR: join(home, 'tmp'),
    CLAUDE_CONFIG_DIR: join(home, '.claude'),
    ANTHROPIC_API_KEY: key,
    // The SDK adds the version itself.
    ...(address ? { ANTHROPIC_BASE_URL: address.replace(/\/v1\/?$/, '') } : {}),
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    DISABLE_TELEMETRY: '1',
    DISABLE_ERROR_REPORTING: '1',
    DISABLE_AUTOUPDATER: '1',
    // Retries are decided outside, from facts.
    CLAUDE_CODE_MAX_RETRIES: '0',
    CLAUDE_CODE_RESUME_INTERRUPTED_TURN: '1',
    CLAUDE_CODE_MAX_OUTPUT_TOKENS: String(limits.outputTokens),
  }
}

/** A prompt that yields nothing and stays open: the SDK would count the open call as refused if the iterable ended. */
const silence = (until: Promise<void>): AsyncIterable<never> => ({
  [Symbol.asyncIterator]: () => ({
    next: async () => {
      await until
      return { done: true, value: undefined }
    },
  }),
})

/** Loads the transcript as it was, and writes every added line to disk before the SDK goes on. */
const storeFor = (loaded: readonly Entry[], place: Place, added: Entry[]): SdkSessionStore => ({
  load: async ({ subpath }) => (subpath === undefined && loaded.length > 0 ? loaded : null),
  append: async ({ subpath }, entries) => {
    if (subpath !== undefined) return
    added.push(...entries)
    await place.note(entries)
  },
})

/** What the query's messages have said so far. */
class Hearing {
  private readonly job: BackendJob
  private readonly used = new Map<string, number>()
  result: SdkMessage | null = null
  model: string
  said = ''

  constructor(job: BackendJob) {
    this.job = job
    this.model = job.model
  }

  get turns(): number {
    return this.used.size
  }

  /** Why the query must stop; null: it may go on. */
  hear(message: SdkMessage): Failure | null {
    if (message.type === 'system' && message.subtype === 'init') return this.checkTools(message.tools ?? [])
    if (message.type === 'stream_event') this.tell(message)
    // A failure is reported a second time later: the first result counts.
    if (message.type === 'result') this.result ??= message
    return message.type === 'assistant' ? this.listen(message) : null
  }

  /** query-2. */
  private checkTools(found: readonly string[]): Failure | null {
    const { native, tools } = this.job
    const wanted = new Set([...native, ...tools.map(({ name }) => servedName(name))])
    const more = found.filter((name) => !wanted.has(name))
    if (more.length > 0)
      return { code: 'TOOL_CHANGED', detail: `it has tools that it was not given: ${more.join(', ')}` }
    const missing = [...wanted].filter((name) => !found.includes(name))
    return missing.length === 0 ? null : { code: 'MODEL_UNAVAILABLE', detail: `it lacks ${missing.join(', ')}` }
  }

  private listen({ message }: SdkMessage): Failure | null {
    if (message?.id === undefined || message.usage === undefined) return null
    if (!this.used.has(message.id)) this.said = ''
    const blocks = typeof message.content === 'string' ? [] : (message.content ?? [])
    this.said += blocks.flatMap((block) => (block.type === 'text' ? [block.text ?? ''] : [])).join('')
    const { input, output } = usedBy(message.usage)
    this.used.set(message.id, input + output)
    if (message.model !== undefined && input + output > 0) this.model = message.model
    const total = [...this.used.values()].reduce((sum, tokens) => sum + tokens, 0)
    const { tokens } = this.job.limits
    return total <= tokens
      ? null
      : { code: 'BUDGET_EXCEEDED', detail: `${total} tokens were used, ${tokens} were left` }
  }

  private tell({ event }: SdkMessage): void {
    const { type, text, thinking } = event?.delta ?? {}
    if (type === 'text_delta' && text) this.job.emitChunk({ type: 'text', text })
    if (type === 'thinking_delta' && thinking) this.job.emitChunk({ type: 'reasoning', text: thinking })
  }
}

const promptOf = (opening: Opening, until: Promise<void>): SdkPrompt =>
  opening.kind === 'go_on' ? silence(until) : opening.text

const optionsFor = (asking: Asking, added: Entry[], guard: Guard, abort: AbortController): SdkOptions => {
  const { job, place, opening, all, environment } = asking
  const { limits } = job
  return {
    abortController: abort,
    cwd: place.files,
    model: job.model,
    systemPrompt: job.system,
    tools: job.native,
    settingSources: [],
    permissionMode: 'default',
    strictMcpConfig: true,
    mcpServers: serversFor(job),
    hooks: { PreToolUse: [{ hooks: [guard.hook] }] },
    sessionStore: storeFor(mended(all), place, added),
    sessionStoreFlush: 'eager',
    includePartialMessages: true,
    env: variables(place, job, environment),
    maxTurns: limits.turns,
    ...(limits.micros === null ? {} : { maxBudgetUsd: limits.micros / MICROS }),
    ...(opening.kind === 'begin' ? { sessionId: job.session } : { resume: job.session }),
  }
}

/** Stops a query early: because of our own limits, or because the caller aborts. The first reason counts. */
class Brake {
  readonly abort = new AbortController()
  reason: Failure | null = null

  constructor(signal: AbortSignal) {
    const pull = (): void => this.pull({ code: 'MODEL_TIMEOUT', detail: 'it was stopped' })
    if (signal.aborted) pull()
    else signal.addEventListener('abort', pull, { once: true, signal: this.abort.signal })
  }

  pull(reason: Failure): void {
    this.reason ??= reason
    this.abort.abort()
  }
}

/** Reads messages until the query ends. An error after a result adds nothing. */
const listen = async (asking: Asking, options: SdkOptions, hearing: Hearing, brake: Brake): Promise<Failure | null> => {
  let hush = (): void => {}
  const until = new Promise<void>((resolve) => {
    hush = resolve
  })
  try {
    for await (const message of asking.sdk.query({ prompt: promptOf(asking.opening, until), options })) {
      const failure = hearing.hear(message)
      if (failure !== null) brake.pull(failure)
      if (message.type === 'result') hush()
    }
    return null
  } catch (error) {
    return thrownAs(error)
  } finally {
    hush()
  }
}

const ENDED: Failure = { code: 'MODEL_UNAVAILABLE', detail: 'it ended without a result' }

const replyOf = (
  hearing: Hearing,
  failure: Failure | null,
  all: readonly Entry[],
  now: readonly Entry[],
): ModelReply => {
  const { result, said, model } = hearing
  if (result !== null && failure === null)
    return outcomeOf(result, said, model, usageSince(all, result.modelUsage ?? {}))
  const usage = unsavedUsage(now)
  return failedWith(failure ?? ENDED, usage.input + usage.output === 0 ? null : usage, said)
}

export const ask = async (asking: Asking, signal: AbortSignal): Promise<Omit<BackendReply, 'isResumed'>> => {
  const { job, place, all } = asking
  const brake = new Brake(signal)
  const hearing = new Hearing(job)
  const added: Entry[] = []
  await place.makeHome()
  const guard = new Guard(job, await realpath(place.files), (code, detail) => brake.pull({ code, detail }))
  const thrown = await listen(asking, optionsFor(asking, added, guard, brake.abort), hearing, brake)
  const now = [...all, ...added]
  const { result, turns } = hearing
  return {
    reply: replyOf(hearing, brake.reason ?? (result === null ? thrown : null), all, now),
    transcript: linesOf(now),
    turns,
    calls: guard.calls,
    costUsd: result === null ? null : (result.total_cost_usd ?? 0) - savedCost(all).usd,
  }
}
