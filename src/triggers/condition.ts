/**
 * A trigger that evaluates a condition over the ledger's data again and again, and sends an event when the condition is met.
 *
 * Owns the sampling and the reading of the roots. model/event/condition.ts decides when the condition counts as met; its state is stored in the
 * ledger and read before each sample, so that after a restart, or in a second process, sampling continues where it was.
 */
import { type ConditionSource as Definition, WATCH_EVENTS } from '#manifest/define/sources.ts'
import { type ConditionSample, type ConditionState, newCondition, sampleCondition } from '#model/event/condition.ts'
import { TrihandError } from '#model/kernel/errors.ts'
import type { SessionId } from '#model/kernel/ids.ts'
import type { Json } from '#model/kernel/json.ts'
import { RUN_STATUSES, type RunStatus } from '#model/run/status.ts'
import type { Reader } from '#ports/reader.ts'
import { type Source, type SourceDeps, SourceMemory, sendOccurrence } from './source.ts'

export interface ConditionDeps extends SourceDeps {
  readonly reader: Pick<Reader, 'document' | 'counts'>
  recall(session: SessionId, key: string): Promise<Json | null>
  /** Returns how many messages wait in a queue; null: no queue has that name. */
  waitingIn(queue: string): Promise<number | null>
}

type Roots = { readonly [root: string]: Json }

const STATUSES = RUN_STATUSES.filter((status) => status !== 'session')
const STATE = 'state'

const tally = (counts: ReadonlyMap<RunStatus, number>): { readonly [status: string]: number } => ({
  ...Object.fromEntries(STATUSES.map((status) => [status, counts.get(status) ?? 0])),
  total: [...counts.values()].reduce((sum, count) => sum + count, 0),
})

/** Reads what the condition can read, as it is now. */
const readRoots = async ({ needs }: Definition, deps: ConditionDeps): Promise<Roots> => {
  const { reader, tenant } = deps
  const queue: Record<string, Json> = {}
  for (const handler of needs.handlers) {
    const counts = tally(await reader.counts(tenant, handler))
    queue[handler] = { ...counts, length: (await deps.waitingIn(handler)) ?? counts['queued'] ?? 0 }
  }
  const table: Record<string, Json> = {}
  for (const [name, { table: from, key }] of Object.entries(needs.documents))
    table[name] = await reader.document(tenant, from, key)
  const session: Record<string, Json> = {}
  if (needs.session !== null)
    for (const key of needs.session.keys) session[key] = await deps.recall(needs.session.id as SessionId, key)
  return { runs: tally(await reader.counts(tenant)), queue, table, session }
}

export class ConditionSource implements Source {
  readonly name: string
  readonly #definition: Definition
  readonly #deps: ConditionDeps
  readonly #memory: SourceMemory
  #cancel: (() => void) | null = null
  #sampling: Promise<void> = Promise.resolve()

  constructor(definition: Definition, deps: ConditionDeps) {
    this.name = definition.name
    this.#definition = definition
    this.#deps = deps
    this.#memory = new SourceMemory(deps, definition.name)
  }

  async start(): Promise<void> {
    if (this.#cancel === null) this.#later(0)
  }

  async stop(): Promise<void> {
    this.#cancel?.()
    this.#cancel = null
    await this.#sampling
  }

  #later(ms: number): void {
    const { clock } = this.#deps
    this.#cancel = clock.at(clock.now() + ms, () => {
      this.#sampling = this.#sampleSafely()
    })
  }

  async #sampleSafely(): Promise<void> {
    try {
      await this.#sample()
    } catch (error) {
      this.#deps.report(this.name, error)
    }
    if (this.#cancel !== null) this.#later(this.#definition.everyMs)
  }

  async #sample(): Promise<void> {
    const { policy } = this.#definition
    const roots = await readRoots(this.#definition, this.#deps)
    const sample = this.#judge(roots)
    const before = ((await this.#memory.recall(STATE)) as ConditionState | null) ?? newCondition(policy)
    const { state, isMet } = sampleCondition(policy, before, sample)
    const note = this.#memory.note(STATE, state as unknown as Json)
    if (isMet) await sendOccurrence(this.#deps, this.name, this.#occurrence(state, sample, roots), [note])
    else if (JSON.stringify(state) !== JSON.stringify(before)) await this.#deps.note([note])
  }

  /** An expression that fails is not a sample: the failure is reported, and nothing changes. */
  #judge(roots: Roots): ConditionSample {
    const { rule, rearm, policy } = this.#definition
    const answer = rule(roots)
    if (answer.kind === 'error') throw new TrihandError('EXPR_FAILED', answer.detail)
    if (policy.edge !== 'change' && typeof answer.value !== 'boolean')
      throw new TrihandError('EXPR_FAILED', `gives ${JSON.stringify(answer.value)}, not true or false`)
    const again = rearm === null ? null : rearm(roots)
    if (again?.kind === 'error') throw new TrihandError('EXPR_FAILED', `rearm: ${again.detail}`)
    return { now: this.#deps.clock.now(), value: answer.value, rearm: again?.value === true }
  }

  #occurrence(state: ConditionState, { now, value }: ConditionSample, roots: Roots) {
    return {
      type: WATCH_EVENTS.condition,
      id: `${this.#deps.ids.digest(this.name).slice(0, 16)}/${state.times}`,
      time: now,
      data: { condition: this.name, value, times: state.times, observed: roots },
    }
  }
}
