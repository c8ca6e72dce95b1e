/**
 * Reruns: a new run of the same handler, created with those results of the old run that are still valid.
 *
 * Owns what the new run is given: input, trigger, session, its place in the chain of causes. The model decides which results are valid
 * (model/run/rerun.ts). The old run is only read. The gate is not asked: it decides on what arrives, and this has arrived already.
 *
 * reruns-1  The new run and all that it takes over are one append: no run has only a part of it.
 * reruns-2  With another input no decision of the old run counts in the new one, and a function that only its triggers start is refused.
 * reruns-3  Only a person may rerun what rests on a decision: a step that people decided, a plan that they approved, or a function
 *           that only its triggers start.
 * decided-steps-1  Every way in which the result of a step can rest on a decision is found: a run that cannot be read counts as decided.
 */
import { causeOf, startOf, triggerOf } from '#engine/core/cause.ts'
import type { EngineContext } from '#engine/core/engine-context.ts'
import type { Asked } from '#engine/core/incoming.ts'
import { storeValue } from '#engine/core/payloads.ts'
import { eventRoot } from '#engine/core/route.ts'
import { readInputs } from '#engine/run/input.ts'
import { newRun } from '#engine/run/new-run.ts'
import { resourceClaimOfCall, rootsOfInput } from '#engine/run/resource-claim.ts'
import { commitSpawned } from '#engine/run/spawned.ts'
import { requireOpen } from '#engine/step/internal.ts'
import { isOwn } from '#manifest/define/builtin-functions.ts'
import { CALLBACK } from '#manifest/define/callback.ts'
import type { FunctionDefinition } from '#manifest/define/system.ts'
import { checkAgainst } from '#manifest/schema/schema.ts'
import { reportsDecision } from '#model/access/human-only.ts'
import type { Kind } from '#model/access/identity.ts'
import { requestersOf } from '#model/access/requester.ts'
import type { StoredEvent } from '#model/event/event.ts'
import { TrihandError } from '#model/kernel/errors.ts'
import { readRunFact } from '#model/kernel/fact-codec.ts'
import { isRunId, isTaskId, type RunId } from '#model/kernel/ids.ts'
import type { Json } from '#model/kernel/json.ts'
import { fold } from '#model/kernel/machine.ts'
import { PLAN_RUN } from '#model/plan/draft.ts'
import type { RunFact, RunInput, RunStart, RunState } from '#model/run/fact.ts'
import { type AgainStep, planRerun, type RerunPlan } from '#model/run/rerun.ts'
import { run as runMachine } from '#model/run/run.ts'
import type { StreamRecord } from '#ports/ledger.ts'

/*
 * Finds which results of a run came from people.
 * Owns the search: a step that asked them, a step that received the event of a decision, a step that called a run with one of these, and a
 * step that was taken over from a run where it was one of these. Reads facts alone.
 */

const PAGE = 200

type World = Pick<EngineContext, 'ledger' | 'tenant' | 'system'>

/** Steps of one run that people decided, and steps whose result comes from other runs. */
interface Looked {
  readonly decided: Set<string>
  /** By run: the steps here that have their result from it, and the step there; null: from the run as a whole. */
  readonly elsewhere: Map<RunId, { readonly step: string; readonly there: string | null }[]>
}

const lookAt = ({ events }: ReturnType<EngineContext['system']>, facts: readonly RunFact[]): Looked => {
  const looked: Looked = { decided: new Set(), elsewhere: new Map() }
  const follow = (run: RunId, step: string, there: string | null): void => {
    looked.elsewhere.set(run, [...(looked.elsewhere.get(run) ?? []), { step, there }])
  }
  for (const fact of facts) {
    if (fact.type === 'step.reused') follow(fact.of, fact.step, fact.step)
    if (fact.type === 'wait.received')
      for (const { type } of [fact.event, ...(fact.others ?? [])])
        if (reportsDecision(type, events.get(type)?.only ?? null)) looked.decided.add(fact.step)
    if (fact.type !== 'child.started') continue
    if (isTaskId(fact.child)) looked.decided.add(fact.step)
    else if (isRunId(fact.child)) follow(fact.child, fact.step, null)
  }
  return looked
}

type Known = Map<RunId, ReadonlySet<string> | null>

/** Null: the run cannot be read. */
const search = async (context: World, runs: readonly RunId[], known: Known): Promise<void> => {
  const unknown = runs.filter((run) => !known.has(run))
  for (let at = 0; at < unknown.length; at += PAGE) {
    const page = unknown.slice(at, at + PAGE)
    const records = await context.ledger.load(page)
    for (const [index, run] of page.entries()) await readOne(context, run, records[index] ?? null, known)
  }
}

const readOne = async (context: World, run: RunId, record: StreamRecord | null, known: Known): Promise<void> => {
  if (record === null || record.tenant !== context.tenant || record.broken !== undefined) {
    known.set(run, null)
    return
  }
  known.set(run, await decidedIn(context, record.facts.map(readRunFact), known))
}

const decidedIn = async (context: World, facts: readonly RunFact[], known: Known): Promise<ReadonlySet<string>> => {
  const { decided, elsewhere } = lookAt(context.system(), facts)
  await search(context, [...elsewhere.keys()], known)
  for (const [run, steps] of elsewhere) {
    const there = known.get(run) ?? null
    for (const { step, there: name } of steps)
      if (there === null || (name === null ? there.size > 0 : there.has(name))) decided.add(step)
  }
  return decided
}

const decidedSteps = (context: World, facts: readonly RunFact[]): Promise<ReadonlySet<string>> =>
  decidedIn(context, facts, new Map())

export interface RerunIntent {
  /** The first step that is done again. Absent: everything is. */
  readonly from?: string
  /** Absent: the input of the old run. With another input the new run counts as called, and has no event. */
  readonly input?: unknown
  /** People's answers count again where no step that is done again came before their question, and they would be asked the same. */
  readonly decisions?: boolean
  readonly by: string
  /** What `by` is. Default: `user`, a person whom the caller has authenticated. */
  readonly kind?: Kind
  /** The id of the new run, if its caller has chosen it. */
  readonly asked?: Asked
}

export interface RerunPreview {
  readonly handler: string
  /** What the old run was given. */
  readonly input: Json
  /** Steps whose results are taken over. */
  readonly reused: readonly string[]
  readonly again: readonly AgainStep[]
}

interface Old {
  readonly record: StreamRecord
  readonly state: RunState
  readonly start: RunStart
  readonly trigger: StoredEvent | null
  readonly plan: RerunPlan
}

/** What decides how much of the old run stands. */
interface Question {
  readonly from: string | null
  readonly isChanged: boolean
  /** Whether the answer depends on what people decided. */
  readonly weighsDecisions: boolean
}

const NO_STEPS: ReadonlySet<string> = new Set()

/** What the new run works on. */
interface Given {
  readonly input: RunInput
  readonly value: Json
  readonly trigger: StoredEvent | null
}

/** reruns-2. */
const requireChangeable = (definition: FunctionDefinition): void => {
  if (definition.name === CALLBACK || isOwn(definition.name))
    throw new TrihandError(
      'INPUT_INVALID',
      `the input of ${definition.name} records what has happened and cannot be changed`,
    )
  requireOpen(definition)
}

/** reruns-3. */
const requireUndecided = (
  definition: FunctionDefinition,
  { plan }: Old,
  { by, kind, decisions }: Required<Pick<RerunIntent, 'by' | 'kind' | 'decisions'>>,
): void => {
  const [step] = plan.decided
  const why =
    step !== undefined
      ? `people decided the step ${step}, and its result would be kept`
      : decisions
        ? 'decisions of people would be reused'
        : definition.internal
          ? `only its triggers start ${definition.name}`
          : definition.name === PLAN_RUN
            ? 'people approved its plan'
            : null
  if (why !== null)
    throw new TrihandError('AGENT_CANNOT_DECIDE', `${by} is of kind ${kind}; ${why}, so only a person may rerun it`)
}

const isThere = async ({ ledger }: EngineContext, run: RunId): Promise<boolean> =>
  (await ledger.load([run], { after: Number.MAX_SAFE_INTEGER }))[0] != null

export class Reruns {
  private readonly context: EngineContext

  constructor(context: EngineContext) {
    this.context = context
  }

  /** Returns what a rerun would take over and do again, without making one. */
  async preview(run: RunId, from: string | null, isChanged = false): Promise<RerunPreview> {
    const old = await this.read(run, { from, isChanged, weighsDecisions: isChanged })
    const { value } = await this.same(old)
    const { reused, again } = old.plan
    return { handler: old.start.handler, input: value, reused: reused.map(({ step }) => step), again }
  }

  async rerun(run: RunId, { from, input, decisions = false, by, kind = 'user', asked }: RerunIntent): Promise<RunId> {
    const { context } = this
    if (asked?.isRepeated === true && (await isThere(context, asked.run))) return asked.run
    const isChanged = input !== undefined
    const weighsDecisions = isChanged || kind !== 'user'
    const old = await this.read(run, { from: from ?? null, isChanged, weighsDecisions })
    const { handler, terms } = old.start
    const definition = context.system().functions.get(handler)
    if (definition === undefined) throw new TrihandError('NOT_FOUND', `the system no longer has a function ${handler}`)
    if (isChanged) requireChangeable(definition)
    if (kind !== 'user') requireUndecided(definition, old, { by, kind, decisions })
    const given = input === undefined ? await this.same(old) : await this.other(input)
    await this.check(definition, given)
    const { tenant, session } = old.record
    const { trigger, value } = given
    const roots = trigger === null ? rootsOfInput(value) : { event: eventRoot(trigger), payload: trigger.data }
    const born = newRun(context, {
      definition,
      systemHash: context.system().hash,
      tenant,
      now: context.clock.now(),
      input: given.input,
      // The same place in the chain: however often a run is rerun, it comes no nearer to the limit of hops.
      // With another input it is a new request, by the person who changed the input.
      cause: {
        ...causeOf({ id: run, event: old.trigger }, old.state),
        causationId: run,
        ...(isChanged && requestersOf({ by: { id: by, kind, groups: [] } })),
      },
      event: null,
      session,
      parent: null,
      ...(terms !== undefined && { terms }),
      resourceClaim: resourceClaimOfCall(definition, { tenant, session, roots }),
      // No lease: the worker that claims it reads what it takes over, and the event that it works on.
      lease: null,
      rerun: {
        of: { of: run, from: from ?? null, by, trigger: trigger?.sequence ?? null, decisions: decisions && !isChanged },
        reuse: old.plan.reused,
      },
      ...(asked !== undefined && { id: asked.run }),
    })
    // reruns-1
    const outcome = await commitSpawned(context, { writes: [born.write], events: [], signals: [], documents: [] }, [
      born,
    ])
    // A run whose id the caller has chosen was created by another attempt.
    if (outcome.kind === 'conflict' && asked === undefined)
      throw new TrihandError('INTERNAL', 'the id of a new run already exists')
    return born.id
  }

  private async read(run: RunId, { from, isChanged, weighsDecisions }: Question): Promise<Old> {
    const { ledger, tenant } = this.context
    const [record] = await ledger.load([run])
    if (record == null || record.tenant !== tenant) throw new TrihandError('NOT_FOUND', `there is no run ${run}`)
    const facts = record.facts.map(readRunFact)
    const state = fold(runMachine, facts)
    const decided = weighsDecisions ? await decidedSteps(this.context, facts) : NO_STEPS
    const isAtWork = record.lease !== null && state.kind === 'live'
    const plan = planRerun({ id: run, facts, isAtWork }, { from, isChanged, decided })
    if (plan.kind === 'refused') throw new TrihandError(plan.code, plan.detail)
    const sequence = triggerOf(record, state)
    const [trigger = null] = sequence === null ? [] : await ledger.events({ tenant, sequences: [sequence], limit: 1 })
    return { record, state, start: startOf(state) as RunStart, trigger, plan }
  }

  private async same({ record, start, trigger }: Old): Promise<Given> {
    const { input: value } = await readInputs(this.context, { tenant: record.tenant, event: trigger }, start.input)
    return { input: start.input, value, trigger }
  }

  private async other(input: unknown): Promise<Given> {
    const { payload, value } = await storeValue(this.context, input)
    return { input: { kind: 'given', payload }, value, trigger: null }
  }

  /** Checks the input as for a call: the code may have changed since, and need another input. */
  private async check({ name, input }: FunctionDefinition, given: Given): Promise<void> {
    if (input !== null && given.input.kind === 'given')
      await checkAgainst(input, given.value, 'INPUT_INVALID', `the input of ${name}`)
  }
}
