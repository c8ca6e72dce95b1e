/** `trihand workers list|show|drain|pause|resume`: lists workers, shows the runs of one, and gives it orders. */
import { withApi } from '#cli/connect/connect.ts'
import { type Listing, printPage, queryText } from '#cli/terminal/listing.ts'
import { EXIT, type Output, visible } from '#cli/terminal/output.ts'
import type { CommonFlags, Verb } from '#cli/terminal/shell.ts'
import type { Worker, WorkerDetail } from '#http/openapi/api.ts'
import type { Page } from '#http/server/query.ts'
import type { WorkerOrder } from '#model/worker/worker-control.ts'

export interface WorkersListFlags extends CommonFlags {
  readonly limit?: string
  readonly cursor?: string
}

export interface WorkerIdFlags extends CommonFlags {
  readonly id: string
}

export interface WorkerOrderFlags extends WorkerIdFlags {
  readonly order: WorkerOrder
}

const labelsOf = ({ labels }: Worker): string =>
  Object.entries(labels)
    .map(([name, value]) => `${name}=${value}`)
    .join(',')

const LISTING: Listing<Worker> = {
  row: (worker) => [
    worker.id,
    worker.name ?? '-',
    worker.pool ?? '-',
    worker.status,
    `${worker.leases}/${worker.slots ?? '?'}`,
    worker.beat_at,
    labelsOf(worker),
  ],
  id: (worker) => worker.id,
  empty: 'No workers.',
  command: 'trihand workers list',
}

export const listWorkers: Verb<WorkersListFlags> = async (shell, flags) => {
  const { limit, cursor } = flags
  const path = `/api/workers${queryText({ limit, cursor })}`
  const page = await withApi(shell, flags, { need: 'look' }, (api) => api.get<Page<Worker>>(path))
  return printPage(shell.output, page, LISTING)
}

const print = (output: Output, worker: WorkerDetail): void => {
  output.table([LISTING.row(worker)])
  if (worker.started_at !== null) output.line(`started   ${worker.started_at}`)
  for (const run of worker.runs) output.line(visible(`holds     ${run.id}  ${run.handler}  ${run.status}`))
}

export const showWorker: Verb<WorkerIdFlags> = async (shell, flags) => {
  const path = `/api/workers/${encodeURIComponent(flags.id)}`
  const worker = await withApi(shell, flags, { need: 'look' }, (api) => api.get<WorkerDetail>(path))
  if (shell.output.isJson) shell.output.document(worker)
  else print(shell.output, worker)
  return EXIT.done
}

const TOLD: Readonly<Record<WorkerOrder, string>> = {
  drain: 'will finish its runs and stop',
  pause: 'will take no new runs',
  resume: 'will take runs again',
}

export const orderWorker: Verb<WorkerOrderFlags> = async (shell, flags) => {
  const path = `/api/workers/${encodeURIComponent(flags.id)}/${flags.order}`
  const worker = await withApi(shell, flags, { need: 'look' }, (api) => api.post<Worker>(path, {}))
  if (shell.output.isJson) shell.output.document(worker)
  else shell.output.line(visible(`${worker.name ?? worker.id} ${TOLD[flags.order]}`))
  return EXIT.done
}
