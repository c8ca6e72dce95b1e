/**
 * The commands for workers, pools, circuit breakers and the stop of all work.
 *
 * Owns their names and descriptions, as verbs.ts does for the others.
 */
import type { Command } from 'commander'
import type { WorkerOrder } from '#model/worker/worker-control.ts'
import { type Perform, port, slots, wait, withConnection, withOutput, withPage, withWork } from './flags.ts'

export const addWorkers = (program: Command, perform: Perform): void => {
  withOutput(program.command('worker [path]'))
    .description('run a worker on a shared ledger, until SIGTERM or `workers drain`')
    .option('--pool <name>', 'join this pool (TRIHAND_POOL)')
    .option('--labels <name=value,…>', 'labels that runs can require (TRIHAND_LABELS)')
    .option('--slots <n>', 'number of runs at the same time (TRIHAND_SLOTS)', slots)
    .option('--name <name>', 'display name of the worker')
    .option('--drain <duration>', 'how long a stopping worker waits for its runs (TRIHAND_DRAIN; 30s)', wait)
    .option('--port <n>', 'port for health and metrics (TRIHAND_WORKER_PORT; default 4410 or the next free port)', port)
    .option('--database <path|url>', 'path or URL of the ledger (DATABASE_URL)')
    .option('--schema <name>', 'Postgres schema of the ledger')
    .action((path, flags) => perform(async () => (await import('#cli/serving/worker.ts')).worker, { path, ...flags }))
  const workers = program.command('workers').description('list and control workers')
  withPage(withConnection(workers.command('list')))
    .description('list workers: name, pool, leases and slots, last heartbeat, labels')
    .action((flags) => perform(async () => (await import('#cli/workers/workers.ts')).listWorkers, flags))
  withConnection(workers.command('show <id>'))
    .description('show one worker and its runs; its name or the last 6 digits of the id are enough')
    .action((id, flags) => perform(async () => (await import('#cli/workers/workers.ts')).showWorker, { id, ...flags }))
  const order = (name: WorkerOrder, description: string): void => {
    withConnection(workers.command(`${name} <id>`))
      .description(description)
      .action((id, flags) =>
        perform(async () => (await import('#cli/workers/workers.ts')).orderWorker, { id, order: name, ...flags }),
      )
  }
  order('drain', 'stop a worker after it has finished its runs')
  order('pause', 'pause a worker: it takes no new runs; its current runs continue')
  order('resume', 'resume a paused worker')
}

export const addFleet = (program: Command, perform: Perform): void => {
  const load = () => import('#cli/workers/fleet.ts')
  const pools = program.command('pools').description('show pools of workers')
  withWork(pools.command('list'))
    .description('list pools: workers, slots in use, waiting runs and the longest wait, labels')
    .option('--quiet', 'print names only')
    .action((flags) => perform(async () => (await load()).listPools, flags))
  const circuits = program.command('circuits').description('list and reset circuit breakers')
  withWork(circuits.command('list'))
    .description('list circuit breakers: state, end of the open period, function')
    .option('--quiet', 'print keys only')
    .action((flags) => perform(async () => (await load()).listCircuits, flags))
  withWork(circuits.command('reset <key>'))
    .description('close a circuit breaker now')
    .action((key, flags) => perform(async () => (await load()).resetCircuit, { key, ...flags }))
  withConnection(program.command('stop'))
    .description('stop all work: no worker starts a step until `trihand go`')
    .option('--reason <text>', 'reason, shown to everyone')
    .option('--yes', 'skip the confirmation')
    .action((flags) => perform(async () => (await load()).stopEverything, flags))
  withConnection(program.command('go'))
    .description('resume all work after `trihand stop`')
    .action((flags) => perform(async () => (await load()).goOn, flags))
}
