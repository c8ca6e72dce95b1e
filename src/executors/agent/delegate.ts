/**
 * One turn of an agent that another harness drives: the same step as a model call, with the harness's own work inside.
 *
 * Owns what the harness is given and what is recorded of it. The broker judges every call; calls that have an effect or need a person
 * are left to the turn as calls of the reply, so that each of them is a step of its own.
 *
 * delegate-1  The harness performs no call of ours that has an effect or needs a person.
 */
import type { Module } from '#model/access/module.ts'
import { dataBlock, resultText } from '#model/agent/messages.ts'
import { type AgentState, callKey, committed, type Inside } from '#model/agent/state.ts'
import { repliesOf } from '#model/agent/turn.ts'
import { textOf } from '#model/chat/conversation.ts'
import { type Allowance, restOf } from '#model/flow/policies/budget.ts'
import { taskUuid } from '#model/kernel/ids.ts'
import type { Json } from '#model/kernel/json.ts'
import type {
  AgentBackend,
  BackendJob,
  BackendLimits,
  BackendReply,
  BackendStart,
  CallResult,
  Verdict,
} from '#ports/agent-backend.ts'
import type { ModelAnswer } from '#ports/model.ts'
import type { StepContext } from '#ports/step-port.ts'
import type { Workspace } from '#ports/tool.ts'
import type { Broker } from './broker.ts'
import type { AgentDeps } from './deps.ts'
import { type Asked, answered, broken, type ModelRecord, type Prepared } from './model-call.ts'
import { callTool, codeOf, failedOutcome } from './tool-call.ts'

export interface Delegation extends Asked {
  readonly state: AgentState
  readonly broker: Broker
  readonly run: string
  readonly module: Module | null
}

const PROVIDER = 'anthropic'
const MICROS = 1_000_000
const TOLERANCE = 0.2

/** What is left, plus what was reserved for this very turn. */
const allowanceOf = ({ job, state, reservation }: Delegation): Allowance => {
  const { tokens, micros } = restOf(job.scope.allowance, committed(state))
  return { tokens: tokens + reservation.tokens, micros: micros === null ? null : micros + reservation.micros }
}

const limitsOf = (delegation: Delegation): BackendLimits => {
  const { maxTurns, maxToolCalls } = delegation.job.spec.limits
  const replies = repliesOf(delegation.state)
  const used = (of: (inside: Inside) => number): number =>
    replies.reduce((sum, { inside }) => sum + (inside === undefined ? 0 : of(inside)), 0)
  const left = replies.reduce((sum, { calls }) => sum + calls.length, 0)
  return {
    ...allowanceOf(delegation),
    turns: Math.max(1, maxTurns - used(({ turns }) => turns)),
    calls: Math.max(0, maxToolCalls - left - used(({ calls }) => calls)),
    outputTokens: delegation.reservation.maxOutputTokens,
  }
}

const startOf = async ({ job, n, state, prepared }: Delegation, deps: AgentDeps): Promise<BackendStart> => {
  const last = state.replies.get(n - 1)
  const transcript = last?.inside === undefined ? null : await deps.blobs.get(last.inside.transcript)
  if (last === undefined || transcript === null) return { kind: 'task', text: job.task }
  const [call] = last.calls
  if (call === undefined)
    return { kind: 'say', transcript, text: textOf(prepared.request.messages.at(-1)?.parts ?? []) }
  const key = callKey(n - 1, 0)
  const { text, isError } = resultText(state.outcomes.get(key))
  return { kind: 'result', transcript, result: { text: dataBlock(job.mark(key), call.tool, text), isError } }
}

const systemOf = ({ request: { system, output } }: Prepared): string =>
  output === null
    ? system
    : `${system}\n\nYour last answer is nothing but JSON that fits this schema:\n${JSON.stringify(output)}`

/** What the harness may do by itself, and whether it has read untrusted input meanwhile. */
class Inner {
  private readonly delegation: Delegation
  private readonly context: StepContext
  private readonly deps: AgentDeps
  private readonly own: ReadonlyMap<string, string>
  private performed = 0
  untrusted = false

  constructor(delegation: Delegation, context: StepContext, deps: AgentDeps) {
    this.delegation = delegation
    this.context = context
    this.deps = deps
    this.own = new Map(delegation.job.hydrated.tools.map(({ name, wire }) => [wire, name]))
  }

  /** delegate-1. */
  judge(wire: string, input: Json): Verdict {
    const { broker, state } = this.delegation
    const tool = this.own.get(wire) ?? wire
    const found = broker.find(tool)
    if (found.kind === 'refused') return { kind: 'refuse', reason: found.refused.message }
    // The harness's own file tool replaces ours: the name was allowed, and the harness checks the paths.
    if (this.deps.isFileTool(tool)) return { kind: 'run' }
    const refused = broker.refuses(tool, input)
    if (refused !== null) return { kind: 'refuse', reason: refused.message }
    const call = { key: '', tool, input }
    const judged = broker.judge(call, { isTainted: state.isTainted || this.untrusted })
    const isFree = found.kind === 'tool' && judged.kind === 'run' && judged.effect === 'none' && !judged.needsApproval
    return { kind: isFree ? 'run' : 'leave' }
  }

  async perform(wire: string, input: Json): Promise<CallResult> {
    const { broker, run, module, state, job, n } = this.delegation
    const name = this.own.get(wire) ?? wire
    const found = broker.find(name)
    if (found.kind !== 'tool' || this.judge(wire, input).kind !== 'run')
      return { text: `TOOL_NOT_ALLOWED: you have no tool ${name}`, isError: true }
    const mark = job.mark(`${n}/${this.performed++}`)
    const outcome = await callTool({ tool: found.tool, input, key: run, module, state }, this.context, this.deps).catch(
      (error: unknown) => failedOutcome(codeOf(error), error instanceof Error ? error.message : String(error)),
    )
    this.untrusted ||= outcome.untrusted || found.tool.untrusted === true
    const { text, isError } = resultText(outcome)
    return { text: dataBlock(mark, name, text), isError }
  }
}

const jobOf = async (
  delegation: Delegation,
  inner: Inner,
  workspace: Workspace,
  { tell }: StepContext,
  deps: AgentDeps,
): Promise<BackendJob> => {
  const { job, n, prepared, run } = delegation
  const { tools } = job.hydrated
  return {
    key: run,
    session: taskUuid(deps.ids.digest(`${run}\nagent`)),
    turn: n,
    model: prepared.request.model.id,
    system: systemOf(prepared),
    start: await startOf(delegation, deps),
    native: tools.filter(({ name }) => deps.isFileTool(name)).map(({ name }) => name),
    tools: tools
      .filter(({ name }) => !deps.isFileTool(name))
      .map(({ wire, description, input }) => ({ name: wire, description, input })),
    limits: limitsOf(delegation),
    workspace,
    judge: (tool, input) => inner.judge(tool, input),
    perform: (tool, input) => inner.perform(tool, input),
    emitChunk: tell,
  }
}

/** Compares the harness's own figure with ours, which counts. */
const costFinding = (micros: number | null, usd: number | null): readonly string[] => {
  if (micros === null || usd === null) return []
  return Math.abs(usd * MICROS - micros) > TOLERANCE * Math.max(micros, 1) ? ['cost_mismatch'] : []
}

/** The harness's own total is stored with the tokens: it counts where no price is known. */
const withCost = (reply: ModelAnswer, costUsd: number | null): ModelAnswer =>
  reply.usage === null || costUsd === null ? reply : { ...reply, usage: { ...reply.usage, costUsd } }

const recordOf = (delegation: Delegation, done: BackendReply, inside: Inside, ms: number, deps: AgentDeps) => {
  const { job, n, prepared, reservation, isLost } = delegation
  if (done.reply.kind === 'failed') return broken(done.reply, prepared.request, ms, deps)
  // One reply of a harness is many answers of a model, so the limit of a single answer does not apply to their sum.
  const request = { ...prepared.request, maxOutputTokens: Number.MAX_SAFE_INTEGER }
  const bytes = done.reply.usage === null ? prepared.bytes : Number.MAX_SAFE_INTEGER
  const told = withCost(done.reply, done.costUsd)
  const record = answered(told, job, n, { ...prepared, request, bytes }, ms, deps)
  if (record.kind === 'failed') return record
  const { reply } = record
  const findings = [...reply.findings, ...costFinding(reply.cost.micros, done.costUsd)]
  if (!isLost || done.isResumed) return { ...record, reply: { ...reply, findings, inside } }
  // What was lost with a machine is not known, so all that was reserved for it counts.
  const usage = { ...reply.usage, input: reply.usage.input + reservation.tokens }
  return { ...record, reply: { ...reply, usage, usageSource: 'estimated' as const, findings, inside } }
}

/** Returns a record, whatever the harness does. */
export const delegate = async (
  backend: AgentBackend,
  delegation: Delegation,
  context: StepContext,
  deps: AgentDeps,
): Promise<ModelRecord> => {
  const { prepared, run, state } = delegation
  const { model } = prepared.request
  const started = deps.clock.now()
  const passed = (): number => deps.clock.now() - started
  if (model.provider !== PROVIDER) {
    const detail = `its backend needs a model of ${PROVIDER}; ${model.alias} is of ${model.provider}`
    const refusal = { code: 'MODEL_REJECTED', detail, retryAfterMs: null, usage: null, text: null } as const
    return broken({ kind: 'failed', ...refusal }, prepared.request, 0, deps)
  }
  const workspace = await deps.workspaces.open(run, [...state.files.values()])
  try {
    const inner = new Inner(delegation, context, deps)
    const done = await backend.work(await jobOf(delegation, inner, workspace, context, deps), context.signal)
    const files = done.reply.kind === 'reply' ? await workspace.commit() : []
    const transcript = done.transcript ?? ''
    const address = deps.ids.digest(transcript)
    await deps.blobs.put(address, transcript)
    const { untrusted } = inner
    const inside = { transcript: address, files, untrusted, turns: done.turns, calls: done.calls }
    return recordOf(delegation, done, inside, passed(), deps)
  } finally {
    workspace.close()
  }
}
