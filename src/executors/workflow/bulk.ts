/**
 * A bulk job: one command to many runs, as an ordinary run. It finds some of them, sends the command to each, and continues with the next.
 *
 * Owns the order: a page of runs is recorded before the command reaches any of them, and its outcomes are recorded before the next page is
 * searched. So a crash at any point repeats nothing and skips nothing, and the counts are right. Which runs are meant and what is
 * counted is model/run/bulk.ts.
 *
 * bulk-job-1  Memory holds the runs of one page and the counts, however many runs are meant.
 * bulk-job-2  A job never applies its command to itself.
 */
import { TrihandError } from '#model/kernel/errors.ts'
import type { RunId, TenantId } from '#model/kernel/ids.ts'
import type { Json } from '#model/kernel/json.ts'
import {
  type BulkOutcome,
  type BulkProgress,
  concerns,
  fromJobJson,
  JOB_PAGE_TABLE,
  JOB_TABLE,
  type JobRecord,
  progressAfter,
  progressAtFirst,
  spokenBy,
  toJobJson,
} from '#model/run/bulk.ts'
import { FinalError } from '#model/run/step-failure.ts'
import type { Reader } from '#ports/reader.ts'
import type { StepContext } from '#ports/step-port.ts'
import type { FunctionContext, Handler } from './function.ts'

export interface BulkDeps {
  readonly reader: Pick<Reader, 'runs' | 'document'>
  /** Applies the command to one run of this tenant; throws if the run refuses it. */
  applyBulkCommand(
    tenant: TenantId,
    run: RunId,
    word: Pick<JobRecord, 'action' | 'by' | 'reason' | 'kind'>,
  ): Promise<void>
}

/** The number of runs between two records of the job's progress. */
const PAGE = 100
/** The number of runs examined for one page, if the command does not apply to most of them. */
const LOOKED_AT = 5_000
const AT_ONCE = 20
/** How long a failing store is retried. */
const PATIENCE = { maxAttempts: 20 }
const TIMEOUT = '5m'

/** Where the search for the next page begins; null: there is no next page. */
type Place = { readonly before: RunId | null; readonly from: number } | null

interface Page {
  readonly ids: readonly RunId[]
  readonly next: Place
}

const BEGINNING: Place = { before: null, from: 0 }

const pageOf = (all: readonly RunId[], { from }: NonNullable<Place>): Page => {
  const end = from + PAGE
  return { ids: all.slice(from, end), next: end < all.length ? { before: null, from: end } : null }
}

class BulkJob {
  private readonly deps: BulkDeps
  private readonly context: FunctionContext
  private readonly job: JobRecord

  constructor(deps: BulkDeps, context: FunctionContext, job: JobRecord) {
    this.deps = deps
    this.context = context
    this.job = job
  }

  async run(): Promise<Json> {
    const { step } = this.context
    const options = (round: number) => ({ key: `${round}`, timeout: TIMEOUT, retry: PATIENCE })
    let progress = progressAtFirst(this.ids)
    let place: Place = BEGINNING
    for (let round = 1; place !== null; round++) {
      const at: NonNullable<Place> = place
      const next = await step.run('find', (context) => this.find(at, context), options(round))
      const before = progress
      place = next as unknown as Place
      const isLast = place === null
      progress = (await step.run(
        'speak',
        (context) => this.speak(before, isLast, context),
        options(round),
      )) as unknown as BulkProgress
    }
    return toJobJson({ ...this.job, progress })
  }

  private async find(place: NonNullable<Place>, { write }: StepContext): Promise<Json> {
    const { ids, next } = this.ids === null ? await this.search(place) : pageOf(this.ids, place)
    write(JOB_PAGE_TABLE, this.context.run.id, [...ids])
    return next as Json
  }

  /** The runs that are named; null: the runs are searched for. */
  private get ids(): readonly RunId[] | null {
    return this.job.where === null ? (this.context.input as readonly RunId[]) : null
  }

  private async search(place: NonNullable<Place>): Promise<Page> {
    const { where, action } = this.job
    const { id: self, tenant } = this.context.run
    const filter = { tenant, status: null, handler: null, ...where, limit: PAGE }
    const ids: RunId[] = []
    let { before } = place
    for (let looked = 0; ids.length < PAGE && looked < LOOKED_AT; looked += PAGE) {
      const runs = await this.deps.reader.runs({ ...filter, before })
      ids.push(...runs.filter(({ id, status }) => id !== self && concerns(action, status)).map(({ id }) => id))
      if (runs.length < PAGE) return { ids, next: null }
      before = runs.at(-1)?.id ?? null
    }
    return { ids, next: { before, from: 0 } }
  }

  private async speak(before: BulkProgress, isLast: boolean, { write, signal }: StepContext): Promise<Json> {
    const { id, tenant } = this.context.run
    const page = await this.deps.reader.document(tenant, JOB_PAGE_TABLE, id)
    const ids = Array.isArray(page) ? (page as readonly RunId[]) : []
    const outcomes: BulkOutcome[] = []
    for (let at = 0; at < ids.length && !signal.aborted; at += AT_ONCE)
      outcomes.push(...(await Promise.all(ids.slice(at, at + AT_ONCE).map((run) => this.applyBulkCommand(run)))))
    const progress = progressAfter(before, outcomes, isLast)
    write(JOB_TABLE, id, toJobJson({ ...this.job, progress }))
    if (isLast) write(JOB_PAGE_TABLE, id, null)
    return progress as unknown as Json
  }

  /** A refusal is an outcome; a store failure is a reason to repeat the whole page. */
  private async applyBulkCommand(run: RunId): Promise<BulkOutcome> {
    const { action, reason, by, kind = 'user' } = this.job
    const { id: self, tenant } = this.context.run
    try {
      await this.deps.applyBulkCommand(tenant, run, { action, reason, kind, by: spokenBy(by, self) })
      return { run, failure: null }
    } catch (error) {
      if (!(error instanceof TrihandError) || error.retryable) throw error
      return { run, failure: { code: error.code, detail: error.detail } }
    }
  }
}

/** Started by name, the handler has no order: the order is stored with the run by the service that is allowed to (modes/jobs.ts). */
export const bulkHandler =
  (deps: BulkDeps): Handler =>
  async (context) => {
    const { id, tenant } = context.run
    const job = fromJobJson(await deps.reader.document(tenant, JOB_TABLE, id))
    if (job === null) throw new FinalError('start a bulk job with POST /api/runs/bulk, not by its name')
    return new BulkJob(deps, context, job).run()
  }
