/**
 * The job service: one command to many runs is given once, and is then carried out as a run.
 *
 * Creates a job and its order together. The work of a job is a run (executors/workflow/bulk.ts): it is cancelled, watched and found like any
 * other run.
 */
import type { InnerStartOptions } from '#engine/core/incoming.ts'
import { BULK } from '#manifest/define/builtin-functions.ts'
import { TrihandError } from '#model/kernel/errors.ts'
import { isRunId, type RunId, type TenantId } from '#model/kernel/ids.ts'
import {
  type BulkIntent,
  bulkCommand,
  fromJobJson,
  JOB_TABLE,
  type JobRecord,
  progressAtFirst,
  toJobJson,
} from '#model/run/bulk.ts'
import type { Reader, RunSummary } from '#ports/reader.ts'

export interface JobDeps {
  readonly tenant: TenantId
  start(name: string, input: unknown, options: InnerStartOptions): Promise<RunId>
  readonly reader: Pick<Reader, 'run' | 'document'>
}

export interface JobView {
  readonly job: JobRecord
  readonly run: RunSummary
}

export class Jobs {
  private readonly deps: JobDeps

  constructor(deps: JobDeps) {
    this.deps = deps
  }

  /** Settles when the order is on disk, with the run that executes it. */
  async begin(intent: BulkIntent, options: Pick<InnerStartOptions, 'asked'> = {}): Promise<RunId> {
    const given = bulkCommand(intent)
    if ('kind' in given) throw new TrihandError(given.code, given.detail)
    const { order, ids } = given
    const value = toJobJson({ ...order, progress: progressAtFirst(ids) })
    const documents: InnerStartOptions['documents'] = (run) => [
      { tenant: this.deps.tenant, table: JOB_TABLE, key: run, value },
    ]
    return this.deps.start(BULK, ids, { ...options, documents })
  }

  async show(id: string): Promise<JobView> {
    const { reader, tenant } = this.deps
    const run = isRunId(id) ? await reader.run(tenant, id) : null
    const job = run === null ? null : fromJobJson(await reader.document(tenant, JOB_TABLE, run.id))
    if (run === null || job === null) throw new TrihandError('NOT_FOUND', `there is no job ${id}`)
    return { job, run }
  }
}
