/** A server and a worker of two versions on one Postgres: hints alone start the server's runs, because no poll fires. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { openPostgres } from '#adapters/storage/postgres/open.ts'
import { SystemClock } from '#adapters/system/clock.ts'
import type { Engine } from '#engine/core/engine.ts'
import { fn } from '#executors/workflow/function.ts'
import { readRunFact } from '#model/kernel/fact-codec.ts'
import { engineOf } from '#test/support/engine.ts'
import { type FreshSchema, freshSchema } from '#test/support/stores/postgres-schema.ts'
import { until } from '#test/support/until.ts'
import { VirtualClock } from '#testing/virtual-clock.ts'

const cluster = process.env['TRIHAND_TEST_PG_URL'] ?? ''

describe.skipIf(cluster === '')('two versions on one Postgres', () => {
  let place: FreshSchema
  const closing: (() => Promise<void>)[] = []

  beforeEach(async () => {
    place = await freshSchema(cluster)
  })
  afterEach(async () => {
    for (const close of closing.splice(0).reverse()) await close()
    await place.drop()
  })

  /** Polls come once in forty days (test/support/engine.ts). */
  const join = async (version: string, sweepMs = 1_000_000) => {
    const opened = await openPostgres({ url: place.url, max: 4 })
    const clock = new SystemClock({ keepsAlive: false })
    const engine: Engine = engineOf({
      ledger: opened.ledger,
      clock: new VirtualClock(),
      source: { name: version, functions: [fn('work', {}, async ({ step }) => step.run('one', () => version))] },
      worker: { name: version, place: { pool: null, labels: {}, modules: null }, sweepMs },
      deps: {
        clock,
        blobs: opened.blobs,
        dispatcher: opened.dispatcher(clock),
        workers: (q) => opened.reader.workers(q),
      },
    })
    closing.push(async () => {
      await engine.stop()
      await opened.close()
    })
    return { engine, ...opened }
  }

  test('[N5] other-versions-1, pin-5: a worker starts the runs of a server of another version at the wake, and none counts as handed over (13.2.2)', async () => {
    const server = await join('server')
    const first = await server.engine.startRun('work', null)
    const worker = await join('worker')
    await worker.engine.start()
    const runs = [first]
    for (let n = 0; n < 5; n++) {
      await until(
        async () => (await worker.ledger.load([runs.at(-1) ?? first]))[0]?.status,
        (status) => status === 'success',
      )
      runs.push(await server.engine.startRun('work', null))
    }
    const records = await worker.ledger.load(runs.slice(0, 5))
    const facts = records.flatMap((record) => (record?.facts ?? []).map(readRunFact))
    expect(facts.filter(({ type }) => type === 'run.handed_over')).toEqual([])
  })
})
