/**
 * One call to a language model, from an agent's state to the record of the reply.
 *
 * Owns the request, its price, and what counts as used. Never retries: what follows a failure is decided from facts.
 */
import type { AgentSpec } from '#model/agent/agent.ts'
import { jsonIn } from '#model/agent/answer-json.ts'
import { messagesOf } from '#model/agent/messages.ts'
import {
  type AgentFact,
  type AgentState,
  type CallUse,
  callKey,
  committed,
  type OutputCheck,
  type Price,
  type Reply,
} from '#model/agent/state.ts'
import { isAllowedModel, microsOf, verifyUsage } from '#model/agent/usage.ts'
import { type ChatCall, messagesBefore } from '#model/chat/call.ts'
import { type ModelUsage, textOf } from '#model/chat/conversation.ts'
import { type Reservation, type ReserveAnswer, reserve, restOf, tokensOf } from '#model/flow/policies/budget.ts'
import type { CallFailure } from '#model/flow/policies/model-choice.ts'
import { type ErrorCode, TrihandError } from '#model/kernel/errors.ts'
import type { Json } from '#model/kernel/json.ts'
import type { ModelAnswer, ModelFailure, ModelName, ModelReply, ModelRequest } from '#ports/model.ts'
import type { StepContext } from '#ports/step-port.ts'
import type { AgentDeps, Hydrated } from './deps.ts'
import type { Scope } from './scope.ts'
import { codeOf } from './tool-call.ts'

/*
 * A model's answer against the schema that it was asked for.
 * Owns how text becomes data. The check itself is handed in; asking again is the turn's business.
 */

const MAX_ISSUES = 20
const MAX_FOUND = 80

const checkAnswer = (
  schema: Json,
  text: string,
  check: (schema: Json, value: Json) => readonly string[],
): OutputCheck => {
  const parsed = jsonIn(text)
  if (parsed === null) {
    const found = JSON.stringify(text.trim().slice(0, MAX_FOUND))
    return { ok: false, issues: [`/: expected JSON, alone or once in the answer, found ${found}`] }
  }
  const issues = check(schema, parsed.value)
  return issues.length === 0 ? { ok: true, value: parsed.value } : { ok: false, issues: issues.slice(0, MAX_ISSUES) }
}

/** What a wake knows about the agent it works for. */
export interface Job {
  readonly spec: AgentSpec
  readonly scope: Scope
  readonly hydrated: Hydrated
  readonly task: string
  /** The conversation before the call, and what is added to the instructions. */
  readonly chat: ChatCall | null
  /** A delimiter for data blocks that nobody can guess. */
  mark(key: string): string
}

export type ModelRecord =
  | { readonly kind: 'reply'; readonly reply: Reply }
  | {
      readonly kind: 'failed'
      readonly failure: CallFailure
      /** Null: not known. */
      readonly used: CallUse | null
      readonly ms: number
      /** The text received before the call failed, as evidence. */
      readonly text: string | null
      /** The model that was called, or that answered in its place. */
      readonly model: string
      readonly isSimulated: boolean
    }

export const SIMULATED = 'simulated'
const FULL_FROM = 0.8
/** A token is never shorter than a byte; this covers what a provider adds to a request. */
const UNSEEN_INPUT = 20_000
/** Nothing was generated, so nothing is paid for. */
const UNPAID: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  'RATE_LIMITED',
  'MODEL_AUTH',
  'MODEL_NOT_FOUND',
  'MODEL_CONTEXT_FULL',
  'MODEL_REJECTED',
  'SIMULATED_NO_SCRIPT',
])

const bytesOf = (request: ModelRequest): number => {
  const { system, messages, tools, output } = request
  return new TextEncoder().encode(JSON.stringify([system, messages, tools, output])).length
}

const plainUsage = (input: number, output: number): ModelUsage => ({
  input,
  output,
  cachedInput: 0,
  cacheWrites: 0,
  reasoning: 0,
})

const NOTHING_USED: CallUse = { tokens: 0, micros: 0 }
const useOf = ({ input, output }: ModelUsage, micros: number | null): CallUse => ({ tokens: input + output, micros })

/** A simulated call costs nothing, whatever the name of the model. */
const priceFor = (
  model: { readonly provider: string; readonly id: string },
  usage: ModelUsage,
  deps: AgentDeps,
): Price => {
  if (model.provider === SIMULATED) return { micros: 0, model: null, source: SIMULATED, approximate: false }
  const price = deps.price(model.provider, model.id, usage)
  if (price !== null) return price
  const told = microsOf(usage.costUsd)
  const unknown = { micros: null, model: null, source: 'unknown', approximate: false }
  return told === null ? unknown : { ...unknown, unverified: told }
}

const requestWith = (
  job: Job,
  state: AgentState,
  name: ModelName,
  attempt: number,
  isShort: boolean,
  deps: AgentDeps,
) => {
  const { spec, hydrated, task, chat, mark } = job
  const wires = new Map(hydrated.tools.map(({ name: own, wire }) => [own, wire]))
  const digest = (text: string): string => deps.ids.digest(text)
  const wire = (tool: string): string => wires.get(tool) ?? tool.replace(/[^A-Za-z0-9_-]/g, '_')
  const request: ModelRequest = {
    purpose: `agent:${spec.name}`,
    model: name,
    system: chat === null ? hydrated.system : `${hydrated.system}\n\n${chat.rules}`,
    messages: [
      ...messagesBefore(chat),
      ...messagesOf(state, { task, provider: name.provider, wire, mark, digest, isShort }),
    ],
    tools: hydrated.tools.map(({ wire: wired, description, input }) => ({ name: wired, description, input })),
    output: spec.output,
    maxOutputTokens: spec.limits.maxOutputTokens,
    temperature: spec.temperature,
    attempt,
  }
  return { request, bytes: bytesOf(request) }
}

export interface Prepared {
  readonly request: ModelRequest
  readonly bytes: number
  readonly answer: ReserveAnswer
}

/** The request, shortened where it would not fit the model's context, and whether the remaining budget allows it. */
export const prepare = (job: Job, state: AgentState, model: number, attempt: number, deps: AgentDeps): Prepared => {
  const { scope, spec } = job
  const alias = scope.models[model] ?? ''
  const name = deps.nameOf(alias)
  const context = deps.contextOf(alias)
  const whole = requestWith(job, state, name, attempt, false, deps)
  const isFull = context !== null && tokensOf(whole.bytes) > context * FULL_FROM
  const { request, bytes } = isFull ? requestWith(job, state, name, attempt, true, deps) : whole
  const price = (input: number, output: number): number | null => priceFor(name, plainUsage(input, output), deps).micros
  const rest = restOf(scope.allowance, committed(state))
  const answer = reserve(rest, { requestBytes: bytes, maxOutputTokens: spec.limits.maxOutputTokens, price })
  return { request, bytes, answer }
}

const usageOf = (reply: ModelAnswer, request: ModelRequest, bytes: number) => {
  const outputBytes = new TextEncoder().encode(JSON.stringify(reply.parts)).length
  const { usage } = reply
  const report = {
    usage:
      usage === null
        ? null
        : {
            tokensInput: usage.input,
            tokensOutput: usage.output,
            totalTokens: usage.input + usage.output,
            estimatedCost: usage.costUsd ?? null,
          },
    modelUsed: reply.modelUsed,
    modelAsked: reply.simulated ? null : request.model.id,
    inputBytes: bytes,
    // Only the text counts: the JSON around it is ours.
    outputBytes: usage === null ? outputBytes : new TextEncoder().encode(textOf(reply.parts)).length,
    maxTokens: request.maxOutputTokens,
    mostInput: bytes + UNSEEN_INPUT,
  }
  const verified = verifyUsage(report, () => null)
  const isBelieved = usage !== null && !verified.findings.includes('impossible_usage')
  const counted: ModelUsage = {
    ...(isBelieved ? usage : plainUsage(0, 0)),
    input: verified.tokensInput,
    output: verified.tokensOutput,
  }
  return { counted, source: verified.source, findings: verified.findings }
}

/** The record of a reply. */
export const answered = (
  reply: ModelAnswer,
  job: Job,
  n: number,
  prepared: Prepared,
  ms: number,
  deps: AgentDeps,
): ModelRecord => {
  const { request, bytes } = prepared
  const { counted, source, findings } = usageOf(reply, request, bytes)
  const used = { provider: reply.simulated ? SIMULATED : request.model.provider, id: reply.modelUsed }
  const cost = priceFor(used, counted, deps)
  const allowed = job.scope.allowedModels.map((name) => deps.nameOf(name).id)
  if (!reply.simulated && !isAllowedModel(reply.modelUsed, allowed)) {
    const detail = `${reply.modelUsed} answered instead of ${request.model.id} and is not allowed`
    const asked = { ...request.model, id: reply.modelUsed }
    return failure('MODEL_NOT_ALLOWED', detail, useOf(counted, cost.micros), ms, asked)
  }
  const own = new Map(job.hydrated.tools.map(({ name, wire }) => [wire, name]))
  const isFinal = reply.calls.length === 0 && reply.finish !== 'length'
  const { output } = job.spec
  return {
    kind: 'reply',
    reply: {
      model: request.model.alias,
      provider: request.model.provider,
      modelUsed: reply.modelUsed,
      parts: reply.parts,
      calls: reply.calls.map(({ tool, input }, i) => ({ key: callKey(n, i), tool: own.get(tool) ?? tool, input })),
      finish: reply.finish,
      usage: counted,
      usageSource: source,
      cost,
      findings: [...findings, ...reply.warnings],
      check: output === null || !isFinal ? null : checkAnswer(output, textOf(reply.parts), deps.check),
      isSimulated: reply.simulated,
      responseId: reply.responseId,
      ms,
    },
  }
}

const failure = (
  code: ErrorCode,
  detail: string,
  used: CallUse | null,
  ms: number,
  { provider, id }: Pick<ModelName, 'provider' | 'id'>,
  more: { readonly roll?: number; readonly retryAfterMs?: number | null; readonly text?: string | null } = {},
): ModelRecord => {
  const { roll = 0, retryAfterMs = null, text = null } = more
  const asked = { model: id, isSimulated: provider === SIMULATED }
  return { kind: 'failed', failure: { kind: 'failed', code, detail, roll, retryAfterMs }, used, ms, text, ...asked }
}

/** The record of a call that failed. */
export const broken = (reply: ModelFailure, request: ModelRequest, ms: number, deps: AgentDeps): ModelRecord => {
  const { code, detail, usage, retryAfterMs, text, isUnbilled } = reply
  const paid = isUnbilled === true || UNPAID.has(code) ? NOTHING_USED : null
  const used = usage === null ? paid : useOf(usage, priceFor(request.model, usage, deps).micros)
  return failure(code, detail, used, ms, request.model, { roll: deps.ids.roll(), retryAfterMs, text })
}

/** One call, as the turn has chosen it. */
export interface Asked {
  readonly job: Job
  readonly n: number
  readonly prepared: Prepared
  readonly reservation: Reservation
  /** An earlier attempt ended without an answer. */
  readonly isLost: boolean
}

const lateReply = ({ model }: ModelRequest, ms: number): ModelFailure => {
  const detail = `${model.id} did not finish its answer within ${ms} ms`
  return { kind: 'failed', code: 'MODEL_TIMEOUT', detail, retryAfterMs: null, usage: null, text: null }
}

/** Ends the call when its time is up, so that it is recorded like any other failed call. */
const inTime = (request: ModelRequest, signal: AbortSignal, timeoutMs: number, deps: AgentDeps): Promise<ModelReply> =>
  new Promise((resolve, reject) => {
    const late = new AbortController()
    const stop = deps.clock.at(deps.clock.now() + timeoutMs, () => {
      resolve(lateReply(request, timeoutMs))
      late.abort(new Error('the call timed out'))
    })
    const answer = deps.model.call(request, AbortSignal.any([signal, late.signal]))
    void answer.then(resolve, reject).finally(stop)
  })

/** Performs the call. Returns a record, whatever the model does. */
export const callModel = async (
  { job, n, prepared, reservation }: Asked,
  { signal, tell }: Pick<StepContext, 'signal' | 'tell'>,
  timeoutMs: number,
  deps: AgentDeps,
): Promise<ModelRecord> => {
  const started = deps.clock.now()
  const request = { ...prepared.request, maxOutputTokens: reservation.maxOutputTokens, onChunk: tell }
  const reply = await inTime(request, signal, timeoutMs, deps)
  const ms = deps.clock.now() - started
  if (reply.kind === 'failed') return broken(reply, request, ms, deps)
  return answered(reply, job, n, { ...prepared, request }, ms, deps)
}

export const factOf = (n: number, attempt: number, record: ModelRecord): AgentFact =>
  record.kind === 'reply'
    ? { type: 'replied', n, attempt, reply: record.reply }
    : { type: 'call_failed', n, attempt, failure: record.failure, used: record.used, ms: record.ms }

/** The record of an attempt that the engine ended: what it used is not known. */
export const endedRecord = (error: unknown, ms: number, request: ModelRequest): ModelRecord => {
  const code = codeOf(error)
  const detail = error instanceof Error ? error.message : String(error)
  const told = code === 'STEP_TIMEOUT' ? lateReply(request, ms) : { code, detail }
  return failure(told.code, told.detail, null, ms, request.model)
}

/** The record of a model that was not called because the remaining budget cannot pay for it. */
export const passedOver = (answer: ReserveAnswer, { model }: ModelRequest): ModelRecord => {
  if (answer.kind === 'go') throw new TrihandError('INTERNAL', 'an affordable model was skipped')
  return failure(answer.code, answer.detail, NOTHING_USED, 0, model)
}

export const asJson = (record: ModelRecord | Hydrated | Reservation): Json => record as unknown as Json
