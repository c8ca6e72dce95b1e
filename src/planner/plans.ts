/**
 * The plan service: plans are proposed, shown, revised, approved by their hash, and run.
 *
 * Owns where a draft is stored: a document of its tenant, changed together with the event that reports the change. The event's id contains
 * the version that was judged, and a ledger accepts an id once: the second of two writers looks again. model/plan/draft.ts decides what may
 * happen to a draft; a run is an ordinary run of one function.
 *
 * plans-1  If two changes start from the same version of a plan, one of them is judged again, in whichever process they are.
 * plans-2  A plan runs only exactly as a person approved it, whoever starts it.
 */
import { advancePlan } from '#engine/core/advance.ts'
import type { IncomingEvent, InnerSendOptions, Receipt, StartOptions } from '#engine/core/incoming.ts'
import type { System } from '#manifest/define/system.ts'
import { contentHash, handlersIn, readSteps, readText } from '#manifest/plan/reading.ts'
import { TrihandError } from '#model/kernel/errors.ts'
import {
  type Instant,
  isPlanId,
  newestFirstKey,
  type PlanId,
  planId,
  type RunId,
  type TenantId,
} from '#model/kernel/ids.ts'
import { isJsonRecord, type Json } from '#model/kernel/json.ts'
import {
  orderOf,
  PLAN_RUN,
  type PlanApproval,
  type PlanCommand,
  type PlanDraft,
  type PlanRevision,
  type PlanRunInput,
  type PlanState,
  planRunsTable,
  worksOnThis,
} from '#model/plan/draft.ts'
import type { NamedBy } from '#model/plan/shown.ts'
import type { Identity } from '#model/task/spec.ts'
import type { Reader, RunSummary } from '#ports/reader.ts'
import { readEnglish } from './english.ts'

/** On whose behalf a plan runs, and under which id. */
type PlanStart = Pick<StartOptions, 'asked' | 'by' | 'requester'>

export interface PlansDeps {
  readonly tenant: TenantId
  system(): System
  now(): Instant
  uuid(): string
  digest(text: string): string
  /** Removes the secrets that this process knows: what is hashed is what can be shown. */
  redact(value: Json): Json
  send(event: IncomingEvent, options: InnerSendOptions): Promise<Receipt>
  start(name: string, input: PlanRunInput, options: PlanStart): Promise<RunId>
  readonly reader: Pick<Reader, 'document' | 'documents' | 'run'>
  /** Runs the changes of one plan one after the other in this process. */
  inTurn(id: PlanId, change: () => Promise<PlanDraft>): Promise<PlanDraft>
  /** Waits after another process has changed the plan first. */
  pause(conflicts: number): Promise<void>
}

/** The person or program that writes a plan down, and the author of its words. */
interface Writer {
  readonly by: string
  /** Default: a person. */
  readonly author?: NamedBy
}

/** Given as exactly one of: text, steps in the manifest's spelling, a sentence. */
interface PlanIntent {
  readonly goal?: string
  readonly text?: string
  readonly steps?: Json
  readonly english?: string
  /** The input of every run: shown and approved with the steps. Null: each run is given its own. */
  readonly input?: Json
}

const TABLE = 'trihand.plan'
const SOURCE = 'trihand'
const MAX_TEXT = 65_536
const RUNS_SHOWN = 20

const intentOf = (given: Json): PlanIntent => {
  const intent = isJsonRecord(given) ? given : {}
  const bad = ['text', 'english', 'goal'].find((name) => intent[name] !== undefined && typeof intent[name] !== 'string')
  if (bad !== undefined) throw new TrihandError('INPUT_INVALID', `${bad} must be a text`)
  const ways = ['text', 'steps', 'english'].filter((name) => intent[name] !== undefined)
  if (ways.length !== 1) throw new TrihandError('INPUT_INVALID', 'a plan needs exactly one of text, steps and english')
  if (JSON.stringify(intent).length > MAX_TEXT)
    throw new TrihandError('PAYLOAD_TOO_LARGE', `a plan may have at most ${MAX_TEXT} characters`)
  return intent as PlanIntent
}

export class Plans {
  private readonly deps: PlansDeps

  constructor(deps: PlansDeps) {
    this.deps = deps
  }

  /** The same proposal under the same id is one draft; without an id it is a new one. */
  async propose(given: Json, writer: string | Writer, id: PlanId = planId(this.deps.uuid())): Promise<PlanDraft> {
    const { by, author = 'person' } = typeof writer === 'string' ? { by: writer } : writer
    const intent = intentOf(this.deps.redact(given))
    const content = await this.read(intent, intent.input ?? undefined, () => author)
    return this.change(id, { type: 'propose_plan', now: this.deps.now(), id, by, content })
  }

  async revise(
    id: string,
    given: Json,
    { by, author = 'person', version }: Writer & { readonly version: number },
  ): Promise<PlanDraft> {
    // Words that a model chose keep the model as their author when a person changes something else, and the plan keeps its input.
    const { current } = await this.show(id)
    const chosen = wordsOfModels(current)
    const intent = intentOf(this.deps.redact(given))
    const worksOn = intent.input === undefined ? current.worksOn : (intent.input ?? undefined)
    const content = await this.read(intent, worksOn, (words) => (chosen.has(words) ? 'model' : author))
    return this.change(requireId(id), { type: 'revise_plan', now: this.deps.now(), by, version, content })
  }

  async approve(id: string, hash: string, by: Pick<Identity, 'id' | 'kind'>): Promise<PlanDraft> {
    const approve = (plan: PlanState): PlanCommand => {
      const shown = plan.kind === 'draft' ? this.shownNow(plan.current) : ''
      return { type: 'approve_plan', now: this.deps.now(), by, hash, shown }
    }
    return this.change(requireId(id), approve)
  }

  async discard(id: string, by: string): Promise<PlanDraft> {
    return this.change(requireId(id), { type: 'discard_plan', now: this.deps.now(), by })
  }

  async show(id: string): Promise<PlanDraft> {
    const state = await this.load(requireId(id))
    if (state.kind === 'none') throw unknownPlan(id)
    return state
  }

  /** Newest first; the cursor is the last plan of the page before. */
  async list({
    after,
    limit,
  }: {
    readonly after: string | null
    readonly limit: number
  }): Promise<readonly PlanDraft[]> {
    const { reader, tenant } = this.deps
    if (after !== null && !isPlanId(after)) throw new TrihandError('CURSOR_INVALID', `"${after}" is not a plan`)
    const page = await reader.documents({
      tenant,
      table: TABLE,
      after: after === null ? null : newestFirstKey(after),
      limit,
    })
    return page.map(({ value }) => value as unknown as PlanDraft)
  }

  async run(id: string, input?: Json, options: PlanStart = {}): Promise<RunId> {
    return this.deps.start(PLAN_RUN, this.order(await this.show(id), input), options)
  }

  /** Returns the last runs that have started, newest first. */
  async runs(id: PlanId): Promise<readonly RunSummary[]> {
    const { reader, tenant } = this.deps
    const page = await reader.documents({ tenant, table: planRunsTable(id), after: null, limit: RUNS_SHOWN })
    const found = await Promise.all(page.map(({ value }) => reader.run(tenant, value as RunId)))
    return found.flatMap((run) => run ?? [])
  }

  order(plan: PlanDraft, input?: Json): PlanRunInput {
    const order = orderOf(plan, this.shownNow(plan.current), input)
    if ('code' in order) throw new TrihandError(order.code, order.detail)
    return order
  }

  /** plans-2. */
  async vouch(order: PlanRunInput): Promise<PlanApproval> {
    const state = isPlanId(order.plan) ? await this.load(order.plan) : null
    const approval = state?.kind === 'draft' ? state.approvals.find(({ hash }) => hash === order.hash) : undefined
    const isThis = contentHash(order, this.deps.digest) === order.hash && worksOnThis(order, order.input)
    if (approval === undefined || !isThis)
      throw new TrihandError('PLAN_NOT_APPROVED', `${order.hash} of ${order.plan} is not approved`)
    return approval
  }

  private world(worksOn: Json | undefined, namedBy: (words: string) => NamedBy) {
    const { functions, chats } = this.deps.system()
    const given = worksOn === undefined ? {} : { worksOn }
    return { handlers: handlersIn(functions, chats.keys()), digest: this.deps.digest, namedBy, ...given }
  }

  /** Returns the hash of the same steps as the system would show them now. */
  private shownNow(current: PlanRevision): string {
    const chosen = wordsOfModels(current)
    const world = this.world(current.worksOn, (words) => (chosen.has(words) ? 'model' : 'person'))
    return readSteps(current.goal, { steps: current.steps, problems: [] }, world).hash
  }

  private async read(
    { goal, text, steps, english }: PlanIntent,
    worksOn: Json | undefined,
    namedBy: (words: string) => NamedBy,
  ): Promise<PlanRevision> {
    const world = this.world(worksOn, namedBy)
    if (text !== undefined) return readText(goal ?? '', text, world)
    if (english === undefined) {
      const { givenSteps } = await import('#manifest/plan/given.ts')
      return readSteps(goal ?? '', givenSteps(steps ?? []), world)
    }
    const reading = readEnglish(english, this.deps.system())
    if (reading.kind === 'question') throw new TrihandError('PLAN_QUESTION', reading.question)
    return reading.kind === 'text'
      ? readText(goal ?? (reading.text === english ? '' : english), reading.text, world)
      : readSteps(goal ?? english, { steps: reading.steps, problems: [] }, world)
  }

  private async load(id: PlanId): Promise<PlanState> {
    const found = await this.deps.reader.document(this.deps.tenant, TABLE, newestFirstKey(id))
    return found === null ? { kind: 'none' } : (found as unknown as PlanDraft)
  }

  private change(id: PlanId, given: PlanCommand | ((before: PlanState) => PlanCommand)): Promise<PlanDraft> {
    return this.deps.inTurn(id, () => this.changeNow(id, given))
  }

  /** plans-1: judges and writes again until no other change comes between. */
  private async changeNow(id: PlanId, given: PlanCommand | ((before: PlanState) => PlanCommand)): Promise<PlanDraft> {
    for (let conflicts = 0; ; await this.deps.pause(++conflicts)) {
      const before = await this.load(id)
      const command = typeof given === 'function' ? given(before) : given
      const { state, facts, refusal } = advancePlan(before, command)
      if (refusal !== null)
        throw refusal.code === 'NOT_FOUND' ? unknownPlan(id) : new TrihandError(refusal.code, refusal.detail)
      if (state.kind === 'none') throw unknownPlan(id)
      const [fact] = facts
      if (fact === undefined || (await this.write(state, fact.type, fact.by))) return state
    }
  }

  private async write(plan: PlanDraft, type: string, by: string): Promise<boolean> {
    const { tenant, digest, send } = this.deps
    const { id, version, revision, current } = plan
    const event = {
      ...{ type: `trihand.${type}`, source: SOURCE, subject: id },
      id: `plan_${digest(JSON.stringify([id, version]))}`,
      data: { plan_id: id, version, revision, hash: current.hash, by },
    }
    const documents = [{ tenant, table: TABLE, key: newestFirstKey(id), value: plan as unknown as Json }]
    try {
      return !(await send(event, { documents, isOwn: true })).duplicate
    } catch (error) {
      if (error instanceof TrihandError && error.code === 'EVENT_ID_REUSED') return false
      throw error
    }
  }
}

/** Returns the names and the goal that a model chose. */
const wordsOfModels = ({ goal, goalBy, lines }: PlanRevision): ReadonlySet<string> =>
  new Set([
    ...(goalBy === 'model' ? [goal] : []),
    ...lines.filter(({ namedBy }) => namedBy === 'model').map(({ name }) => name),
  ])

const unknownPlan = (id: string): TrihandError => new TrihandError('NOT_FOUND', `there is no plan ${id}`)

const requireId = (id: string): PlanId => {
  if (!isPlanId(id)) throw unknownPlan(id)
  return id
}
