/** Child process: parks a number of runs, reports its memory, and stays until it is killed. */
import { createTrihand } from '#compose/assemble.ts'
import { benchSystem } from '../system.ts'
import { untilCount } from '../target.ts'

const [, , database = '', schema = '', count = '0'] = process.argv
const runs = Number(count)
const CHUNK = 1_000

const app = await createTrihand({
  system: benchSystem({ mark: () => {} }),
  database,
  ...(schema === '' ? {} : { schema }),
})
for (let from = 0; from < runs; from += CHUNK) {
  await Promise.all(
    Array.from({ length: CHUNK }, (_, i) => app.send({ type: 'run.park', data: { i: from + i, subject: 'parked' } })),
  )
}
await untilCount(app, 'waiting', runs, 50)
process.stdout.write(`parked ${process.memoryUsage.rss()}\n`)
setInterval(() => {}, 60_000)
