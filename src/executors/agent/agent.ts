/**
 * The agent executor: a durable program over steps. At every entry it folds its own steps, and the turn decides what comes next.
 *
 * Owns which step each action becomes. Decides nothing by itself (model/agent/turn.ts), permits nothing by itself (broker.ts), and keeps
 * nothing between two entries: finished steps are answered from the ledger by name, so a crash pays for nothing twice.
 *
 * agent-1  One action is one step: a model call, a tool call, a question to a person.
 * agent-2  What a call could use is reserved in the ledger before it begins; an attempt whose answer was lost counts in full.
 *          A model that the remaining budget cannot pay for is skipped in favour of the next one in the list.
 * agent-3  A tool is performed only after the broker has permitted this very call in this entry.
 */
import type { Module } from '#model/access/module.ts'
import type { AgentSpec } from '#model/agent/agent.ts'
import {
  type AgentCall,
  type AgentFact,
  type AgentState,
  decisionKey,
  evolveAgent,
  NEW_AGENT,
  type ToolOutcome,
  type WaitKind,
} from '#model/agent/state.ts'
import { type Action, type End, nextAction, repliesOf, type TurnRules } from '#model/agent/turn.ts'
import { type ChatCall, chatCallOf } from '#model/chat/call.ts'
import { textOf } from '#model/chat/conversation.ts'
import type { Allowance, Reservation } from '#model/flow/policies/budget.ts'
import type { RetryPolicy } from '#model/flow/policies/retry.ts'
import { TrihandError } from '#model/kernel/errors.ts'
import type { Json } from '#model/kernel/json.ts'
import { type Effect, stepAddress } from '#model/run/step.ts'
import type { AgentBackend } from '#ports/agent-backend.ts'
import type { Entry, StepContext } from '#ports/step-port.ts'
import { Broker } from './broker.ts'
import {
  allowanceFor,
  carvedFor,
  childOutcome,
  handlerOf,
  handoffEnd,
  handoffInput,
  inputFor,
  restFor,
  tooDeep,
  waitingChildren,
} from './children.ts'
import { requireConsent } from './consent.ts'
import { HANDOFF, TASK } from './control-tools.ts'
import { delegate } from './delegate.ts'
import type { AgentDeps, Hydrated } from './deps.ts'
import { hydrate, servedTools } from './hydrate.ts'
import { type LeftFiles, leftFiles } from './left-files.ts'
import {
  type Asked,
  asJson,
  callModel,
  endedRecord,
  factOf,
  type Job,
  type ModelRecord,
  type Prepared,
  passedOver,
  prepare,
  SIMULATED,
} from './model-call.ts'
import { decidedOf, questionOf } from './questions.ts'
import { type Scope, scopeOf } from './scope.ts'
import { taskText } from './task-text.ts'
import { callTool, codeOf, failedOutcome, NO_OUTCOME, outcomeOf } from './tool-call.ts'

const ONCE: RetryPolicy = { maxAttempts: 1, baseMs: 0, factor: 1, maxMs: 0 }
const TOOL_RETRY: RetryPolicy = { maxAttempts: 3, baseMs: 1_000, factor: 2, maxMs: 60_000 }
const MODEL_TIMEOUT_MS = 120_000
const TOOL_TIMEOUT_MS = 30_000
const LOCAL_TIMEOUT_MS = 300_000
const MARK_DIGITS = 12
/** A call that runs out of time should end by itself first, so that it is recorded with its cost. */
const GRACE_MS = 1_000

type ModelTurn = Extract<Action, { readonly kind: 'model' }>

/** How an agent's work ended, and what it used. */
export interface Ended {
  readonly end: End
  readonly state: AgentState
}

export interface AgentJob {
  readonly spec: AgentSpec
  readonly module: Module | null
  readonly entry: Entry
}

export class AgentWork {
  private readonly entry: Entry
  private readonly spec: AgentSpec
  private readonly module: Module | null
  private readonly deps: AgentDeps
  private readonly scope: Scope
  private readonly broker: Broker
  private readonly rules: TurnRules
  private readonly chat: ChatCall | null
  private state: AgentState = NEW_AGENT
  private hydrated: Hydrated | null = null
  private handedTo: End | null = null

  constructor({ spec, module, entry }: AgentJob, deps: AgentDeps) {
    this.entry = entry
    this.spec = spec
    this.module = module
    this.deps = deps
    this.chat = chatCallOf(entry.input)
    this.scope = scopeOf(spec, entry.input, deps.defaultModel(), module)
    this.broker = new Broker(spec, this.scope.tools, deps)
    const { maxTurns, maxToolCalls, timeoutMs, maxRetries } = spec.limits
    this.rules = {
      ...{ maxTurns, maxToolCalls, timeoutMs, maxRetries },
      models: this.scope.models.length,
      hasSchema: spec.output !== null,
      judge: (call, state) => this.broker.judge(call, state),
    }
  }

  async run(): Promise<Ended> {
    if (this.scope.models.length === 0)
      throw new TrihandError('SCOPE_WIDER', `${this.spec.name} has no model that its parent may use`)
    for (;;) {
      const turn = this.handedTo ?? nextAction(this.state, this.rules)
      if (turn.kind !== 'end') await this.act(turn)
      else if (turn.status !== 'failed' || !this.isBehind) return { end: turn, state: this.state }
      else this.retried()
    }
  }

  /** True while it goes through steps that happened before the run was retried. */
  private get isBehind(): boolean {
    return this.state.before.lives < this.entry.life
  }

  /** agent-state-2: the end of an earlier life. */
  private retried(): void {
    this.handedTo = null
    this.note({ type: 'retried' })
  }

  /** Steps that may be done again after a retry get a different address in each life. */
  private inLife(key: string): string {
    const { lives } = this.state.before
    return lives === 0 ? key : `${key}@${lives}`
  }

  private act(turn: Action): Promise<void> {
    switch (turn.kind) {
      case 'hydrate':
        return this.hydrate()
      case 'model':
        return this.model(turn)
      case 'tools':
        return this.tools(turn.ready)
      case 'wait':
        return this.wait(turn.on, turn.calls)
      case 'close':
        return this.close()
    }
  }

  private note(fact: AgentFact): void {
    this.state = evolveAgent(this.state, fact)
  }

  private step(
    name: string,
    body: (context: StepContext) => unknown,
    options: { readonly effect?: Effect; readonly retry?: RetryPolicy; readonly timeoutMs?: number } = {},
  ): Promise<Json> {
    const { effect = 'idempotent', retry = ONCE, timeoutMs = LOCAL_TIMEOUT_MS } = options
    return this.entry.gate.run({ step: name, effect, retry, timeoutMs, body })
  }

  private async hydrate(): Promise<void> {
    const { spec, broker, entry } = this
    const { input } = entry
    const body = ({ signal }: StepContext) =>
      hydrate({ spec, input, key: entry.run, documents: entry, broker, signal }, this.deps)
    // A server that brings tools may be unreachable for a moment; no other failure here goes away by waiting.
    const retry = spec.mcpServers.length > 0 ? TOOL_RETRY : ONCE
    const hydrated = (await this.step('agent/hydrate', body, { retry })) as unknown as Hydrated
    broker.serve(servedTools(spec, hydrated.served, this.deps))
    this.hydrated = hydrated
    const untrusted = hydrated.untrusted || (this.scope.child?.tainted ?? false)
    this.note({ type: 'hydrated', files: hydrated.files, untrusted, ms: hydrated.ms })
  }

  // -- models ---------------------------------------------------------------------------------------------------------

  private job(): Job {
    if (this.hydrated === null) throw new TrihandError('INTERNAL', 'a model call needs instructions first')
    const { spec, scope, hydrated } = this
    return {
      spec,
      scope,
      hydrated,
      task: taskText(this.entry, this.state, this.chat, this.mark('input')),
      chat: this.chat,
      mark: (key) => this.mark(key),
    }
  }

  /** Callers outside cannot guess it, and it is the same at every entry. */
  private mark(key: string): string {
    return `k${this.deps.ids.digest(`${this.entry.run}\n${key}`).slice(0, MARK_DIGITS)}`
  }

  /** agent-2. */
  private async model({ n, attempt, model, waitMs }: ModelTurn): Promise<void> {
    const { gate } = this.entry
    const begun = { type: 'agent.started', data: { model: this.scope.models[model] ?? null } } as const
    if (n === 0 && attempt === 1) await gate.report('agent/started', begun)
    const key = this.inLife(attempt === 1 ? String(n) : `${n}:${attempt}`)
    const [reserve, call] = [stepAddress('agent/reserve', key), stepAddress('agent/model', key)]
    const isMade = gate.stateOf(reserve) === 'settled'
    if (this.isBehind && !isMade && gate.stateOf(call) === 'none') return this.retried()
    if (waitMs > 0) await gate.sleepUntil(stepAddress('agent/pause', key), (now) => now + waitMs)
    const isLost = isMade && gate.stateOf(call) === 'none'
    const job = this.job()
    const prepared = prepare(job, this.state, model, attempt, this.deps)
    if (!isMade && (prepared.answer.kind === 'refused' || gate.stateOf(call) === 'settled'))
      return this.passOver(call, { n, attempt, model, waitMs, kind: 'model' }, prepared)
    const reservation = await this.reserve(reserve, n, attempt, prepared)
    // A harness continues its own session, so a lost attempt does not end its turn.
    if (isLost && this.backendFor(prepared) === null)
      return this.note({ type: 'call_failed', n, attempt, failure: { kind: 'lost' }, used: null, ms: 0 })
    this.note(factOf(n, attempt, await this.ask(call, { job, n, prepared, reservation, isLost })))
  }

  /** Recorded, so that every entry calls the same models even if prices change. If no model is left, the agent's work ends. */
  private async passOver(step: string, { n, attempt, model }: ModelTurn, { answer, request }: Prepared): Promise<void> {
    if (answer.kind === 'refused' && model + 1 === this.scope.models.length) {
      this.handedTo = { kind: 'end', status: 'failed', code: answer.code, detail: answer.detail, output: null }
      return
    }
    const record = await this.step(step, () => asJson(passedOver(answer, request)))
    this.note(factOf(n, attempt, record as unknown as ModelRecord))
  }

  private async reserve(step: string, n: number, attempt: number, { answer }: Prepared): Promise<Reservation> {
    const body = (): Json => (answer.kind === 'go' ? asJson(answer.reservation) : null)
    const reservation = (await this.step(step, body)) as unknown as Reservation
    this.note({ type: 'reserved', n, attempt, reservation })
    return reservation
  }

  private async ask(step: string, asked: Asked): Promise<ModelRecord> {
    const { deps, state, broker, module } = this
    const backend = this.backendFor(asked.prepared)
    const left = Math.max(1, this.spec.limits.timeoutMs - state.activeMs + state.before.activeMs)
    const timeoutMs = backend === null ? Math.min(MODEL_TIMEOUT_MS, left) : left
    const body = (context: StepContext) =>
      backend === null
        ? callModel(asked, context, timeoutMs, deps)
        : delegate(backend, { ...asked, state, broker, module, run: this.entry.run }, context, deps)
    try {
      return (await this.step(step, body, { timeoutMs: timeoutMs + GRACE_MS })) as unknown as ModelRecord
    } catch (error) {
      return endedRecord(error, timeoutMs, asked.prepared.request)
    }
  }

  /** Null: the turns are our own. Conversations and simulated models always use those. */
  private backendFor({ request }: Prepared): AgentBackend | null {
    const { backend } = this.spec
    const isOwn = backend === null || this.chat !== null || request.model.provider === SIMULATED
    return isOwn ? null : this.deps.backend(backend)
  }

  // -- tools ----------------------------------------------------------------------------------------------------------

  private async tools(ready: readonly AgentCall[]): Promise<void> {
    const before = this.state
    await this.carve(ready)
    await Promise.all(
      ready.map(async (call) => {
        this.note({ type: 'tool_done', key: call.key, outcome: await this.perform(call, before) })
      }),
    )
  }

  private perform(call: AgentCall, state: AgentState): Promise<ToolOutcome> {
    const step = stepAddress('agent/tool', call.key)
    const said = (on: WaitKind) => this.state.decisions.get(decisionKey(on, call.key))
    const approved = said('approval')
    if (approved?.verdict === 'no')
      return this.record(step, { ...NO_OUTCOME, denied: approved.reason ?? 'a person rejected it' })
    const input = approved?.value ?? call.input
    if (approved !== undefined) requireConsent(approved, input, this.deps.ids)
    // agent-3: checked again, because a person may have changed the input.
    const refused = this.broker.refuses(call.tool, input)
    if (refused !== null) return this.record(step, failedOutcome(refused.code, refused.message))
    const answered = said('question')
    if (answered !== undefined) return this.record(step, { ...NO_OUTCOME, output: answered.value ?? answered.reason })
    if (call.tool === TASK) return this.child(step, call, state)
    if (call.tool === HANDOFF) return this.handOff(step, call, state)
    return this.performTool(step, call, input, state)
  }

  private async record(step: string, outcome: ToolOutcome): Promise<ToolOutcome> {
    return outcomeOf(await this.step(step, () => outcome))
  }

  private async performTool(step: string, call: AgentCall, input: Json, state: AgentState): Promise<ToolOutcome> {
    const found = this.broker.find(call.tool)
    if (found.kind !== 'tool') return this.record(step, failedOutcome('TOOL_NOT_ALLOWED', `${call.tool} is not a tool`))
    const { tool } = found
    const job = { tool, input, key: this.entry.run, module: this.module, state }
    const isOnce = tool.effect === 'once'
    try {
      const value = await this.step(step, (context) => callTool(job, context, this.deps), {
        effect: isOnce ? 'once' : 'idempotent',
        retry: isOnce ? ONCE : TOOL_RETRY,
        timeoutMs: tool.timeoutMs ?? TOOL_TIMEOUT_MS,
      })
      return outcomeOf(value)
    } catch (error) {
      // If a person refuses an uncertain call, the work ends; other failures are results for the model.
      if (codeOf(error) === 'STEP_REFUSED') throw error
      return failedOutcome(codeOf(error), error instanceof Error ? error.message : String(error))
    }
  }

  // -- other agents ---------------------------------------------------------------------------------------------------

  /** A child's allowance is deducted from its parent's before the child begins; children that wait for their turn share the rest. */
  private async carve(ready: readonly AgentCall[]): Promise<void> {
    const fitting = ready.filter(({ tool, input }) => this.broker.refuses(tool, input) === null)
    for (const call of fitting.filter(({ tool }) => tool === TASK))
      await this.carveFor(call, () => allowanceFor(this.scope, this.state, call, waitingChildren(this.state)))
    // A hand-off comes last and gets all that is left. Only the first one counts.
    for (const call of fitting.filter(({ tool }) => tool === HANDOFF).slice(0, 1))
      await this.carveFor(call, () => restFor(this.scope, this.state))
  }

  private async carveFor(call: AgentCall, allowance: () => Allowance): Promise<void> {
    const carved = (await this.step(stepAddress('agent/carve', call.key), () => ({
      ...allowance(),
    }))) as unknown as Allowance
    this.note({ type: 'carved', key: call.key, tokens: carved.tokens, micros: carved.micros ?? 0 })
  }

  private async child(step: string, call: AgentCall, state: AgentState): Promise<ToolOutcome> {
    const refused = tooDeep(this.spec, this.scope)
    if (refused !== null) return this.record(step, refused)
    const { spent, ...allowance } = carvedFor(this.scope, this.state, call)
    try {
      const input = inputFor(this.scope, state, call, allowance)
      return childOutcome(
        await this.entry.gate.invoke(stepAddress('agent/child', call.key), handlerOf(this.spec, call), input),
      )
    } catch (error) {
      const failed = failedOutcome(codeOf(error), error instanceof Error ? error.message : String(error))
      // It is not known what a failed child has used, so its whole allowance counts.
      return { ...failed, spent, untrusted: true }
    }
  }

  /** The other agent's answer ends this agent's work. What it used and read also counts for this agent's parent. */
  private async handOff(step: string, call: AgentCall, state: AgentState): Promise<ToolOutcome> {
    const refused = tooDeep(this.spec, this.scope)
    if (refused !== null) return this.record(step, refused)
    const { agent } = call.input as { readonly agent: string }
    const { spent: _, ...allowance } = carvedFor(this.scope, this.state, call)
    const input = handoffInput(this.spec, this.scope, { state, call, allowance, input: this.entry.input })
    const answer = await this.entry.gate.invoke('agent/handoff', agent, input)
    this.handedTo = handoffEnd(answer)
    return childOutcome(answer)
  }

  // -- people, and the end --------------------------------------------------------------------------------------------

  private async wait(on: WaitKind, calls: readonly AgentCall[]): Promise<void> {
    const remarks = textOf(repliesOf(this.state).at(-1)?.parts ?? []) || null
    await Promise.all(
      calls.map(async (call) => {
        const found = this.broker.find(call.tool)
        const schema = found.kind === 'refused' ? null : found.tool.input
        const spec = questionOf(on, this.spec, call, schema, remarks)
        const key = on === 'loop' ? this.inLife(call.key) : call.key
        const answer = await this.entry.gate.ask(stepAddress(`agent/${on}`, key), { spec })
        this.note({ type: 'decided', on, key: call.key, decided: decidedOf(on, answer) })
      }),
    )
  }

  private async close(): Promise<void> {
    const { lives } = this.state.before
    const { missing } = (await this.step(stepAddress('agent/artifacts', lives === 0 ? null : String(lives)), () =>
      leftFiles(this.spec, this.state),
    )) as unknown as LeftFiles
    this.note({ type: 'closed', missing })
  }
}
