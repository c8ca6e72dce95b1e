/** Child process: opens a ledger, reports when it serves and how much memory it uses, and stays until it is killed. */
import { createTrihand } from '#compose/assemble.ts'
import { benchSystem } from '../system.ts'

const [, , database = '', schema = ''] = process.argv
const say = (text: string): void => void process.stdout.write(`${text}\n`)

const app = await createTrihand({
  system: benchSystem({ mark: (what, n) => what === 'last' && say(`last ${n}`) }),
  database,
  ...(schema === '' ? {} : { schema }),
  leaseTtl: Number(process.env['BENCH_LEASE_MS'] ?? 15_000),
})
say(`serving ${process.memoryUsage.rss()}`)
if (process.argv[4] === 'first-step') {
  await app.call('steps', { steps: 1 })
  say('stepped')
}
setInterval(() => {}, 60_000)
