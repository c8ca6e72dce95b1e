/** Child process: starts one long run and stays in its last step until it is killed. */
import { createTrihand } from '#compose/assemble.ts'
import { benchSystem } from '../system.ts'

const [, , database = '', schema = '', steps = '0'] = process.argv
const at: number[] = []
const system = benchSystem({
  mark: (what) => {
    at.push(performance.now())
    if (what === 'last') process.stdout.write(`last ${JSON.stringify(at)}\n`)
  },
})
const app = await createTrihand({
  system,
  database,
  ...(schema === '' ? {} : { schema }),
  leaseTtl: Number(process.env['BENCH_LEASE_MS'] ?? 15_000),
})
at.push(performance.now())
await app.start('long', { steps: Number(steps) })
setInterval(() => {}, 60_000)
