/** W4: runs parked on a wait. Measures their cost on disk and in memory, how fast a process starts with them, and how fast all resume. */
import { atMost, type Measurement } from '../report.ts'
import { type BenchLedger, open, startChild, untilReported } from '../target.ts'

const RESUMED = 10_000
const CHUNK = 1_000
const PARKED = { sqlite: 100_000, postgres: 20_000 } as const
const RESUME_SECONDS = { sqlite: 1, postgres: 5 } as const

export const resumedRuns = async (ledger: BenchLedger): Promise<readonly Measurement[]> => {
  const place = ledger.fresh()
  const app = await open(place)
  const parked = untilReported(app, 'waiting', RESUMED)
  for (let from = 0; from < RESUMED; from += CHUNK) {
    await Promise.all(Array.from({ length: CHUNK }, (_, i) => app.send({ type: 'run.park', data: { i: from + i } })))
  }
  await parked
  const resumed = untilReported(app, 'success', RESUMED)
  const since = performance.now()
  await app.send({ type: 'park.go', data: {} })
  await resumed
  const seconds = (performance.now() - since) / 1_000
  await app.close()
  await place.remove()
  return [
    {
      metric: `seconds to resume ${RESUMED} runs`,
      value: seconds,
      unit: 's',
      target: atMost(RESUME_SECONDS[ledger.kind]),
    },
  ]
}

export const parkedRuns = async (ledger: BenchLedger): Promise<readonly Measurement[]> => {
  const runs = PARKED[ledger.kind]
  const place = ledger.fresh()
  await (await open(place)).close()
  const empty = await place.size()
  const parker = startChild('park', place, [String(runs)])
  const parked = await parker.line('parked')
  await parker.kill()
  // Opening and closing checkpoints the log into the file, so that the file's size shows the cost of the runs.
  await (await open(place, undefined, { work: false })).close()
  const bytes = ((await place.size()) - empty) / runs
  const booted = startChild('boot', place)
  const serving = await booted.line('serving')
  await booted.kill()
  await place.remove()
  const memory = (line: string): number => Number(line.split(' ')[1]) / 1e6
  return [
    {
      metric: 'bytes on disk per parked run',
      value: bytes,
      unit: 'B',
      ...(ledger.kind === 'sqlite' ? { target: atMost(1_024) } : {}),
    },
    { metric: `memory after parking ${runs}`, value: memory(parked.text), unit: 'MB', target: atMost(400) },
    { metric: `memory after booting over ${runs}`, value: memory(serving.text), unit: 'MB', target: atMost(400) },
    {
      metric: `seconds to boot over ${runs}`,
      value: (serving.at - booted.startedAt) / 1_000,
      unit: 's',
      target: atMost(3),
    },
  ]
}
