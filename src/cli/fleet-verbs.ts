/**
 * The commands for workers, pools, circuit breakers and the stop of all work.
 *
 * Owns their names and descriptions, as verbs.ts does for the others.
 */
import type { Command } from 'commander'
import type { WorkerOrder } from '#model/worker/worker-control.ts'
import { type Perform, port, slots, wait, withDoor, withOutput, withPage, withWork } from './flags.ts'

export const addWorkers = (program: Command, perform: Perform): void => {
  withOutput(program.command('worker [path]'))
    .description('work on a shared ledger beside others, until SIGTERM or `workers drain`')
    .option('--pool <name>', 'join this pool (TRIHAND_POOL)')
    .option('--labels <name=value,…>', 'what runs may ask for (TRIHAND_LABELS)')
    .option('--slots <n>', 'how many runs at once (TRIHAND_SLOTS)', slots)
    .option('--name <name>', 'what people call it')
    .option('--drain <duration>', 'how long runs at work may take to finish (TRIHAND_DRAIN; 30s)', wait)
    .option('--port <n>', 'health and metrics (TRIHAND_WORKER_PORT; 4410, else the next free)', port)
    .option('--database <path|url>', 'the ledger (DATABASE_URL)')
    .option('--schema <name>', 'the Postgres schema that holds it')
    .action((path, flags) => perform(async () => (await import('#cli/serving/worker.ts')).worker, { path, ...flags }))
  const workers = program.command('workers').description('who works on the ledger')
  withPage(withDoor(workers.command('list')))
    .description('workers: name, pool, leases and slots, last beat, labels')
    .action((flags) => perform(async () => (await import('#cli/workers/workers.ts')).listWorkers, flags))
  withDoor(workers.command('show <id>'))
    .description('one worker and the runs it holds; its name or the last 6 digits of the id do')
    .action((id, flags) => perform(async () => (await import('#cli/workers/workers.ts')).showWorker, { id, ...flags }))
  const order = (name: WorkerOrder, description: string): void => {
    withDoor(workers.command(`${name} <id>`))
      .description(description)
      .action((id, flags) =>
        perform(async () => (await import('#cli/workers/workers.ts')).orderWorker, { id, order: name, ...flags }),
      )
  }
  order('drain', 'tell a worker to finish what it has and leave')
  order('pause', 'tell a worker to take nothing new; what it has goes on')
  order('resume', 'let a paused worker take runs again')
}

export const addFleet = (program: Command, perform: Perform): void => {
  const load = () => import('#cli/workers/fleet.ts')
  const pools = program.command('pools').description('groups of workers')
  withWork(pools.command('list'))
    .description('pools: workers and slots in use, what waits and since when, labels')
    .option('--quiet', 'names only')
    .action((flags) => perform(async () => (await load()).listPools, flags))
  const circuits = program.command('circuits').description('targets that failed too often')
  withWork(circuits.command('list'))
    .description('circuit breakers: open or closed, until when, whose')
    .option('--quiet', 'keys only')
    .action((flags) => perform(async () => (await load()).listCircuits, flags))
  withWork(circuits.command('reset <key>'))
    .description('close one now')
    .action((key, flags) => perform(async () => (await load()).resetCircuit, { key, ...flags }))
  withDoor(program.command('stop'))
    .description('stop everything: no worker begins a step until `go`')
    .option('--reason <text>', 'why, for whoever reads it')
    .option('--yes', 'it is meant; ask nothing')
    .action((flags) => perform(async () => (await load()).stopEverything, flags))
  withDoor(program.command('go'))
    .description('lift the stop')
    .action((flags) => perform(async () => (await load()).goOn, flags))
}
