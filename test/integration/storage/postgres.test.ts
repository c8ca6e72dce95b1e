/** The Postgres ledger and its related adapters against the conformance suites, with and without faults, on a real server. */
import { afterAll, describe, expect, test } from 'vitest'
import { openPostgres } from '#adapters/storage/postgres/open.ts'
import { SystemClock } from '#adapters/system/clock.ts'
import type { ClaimableId, RunId } from '#model/kernel/ids.ts'
import { Random } from '#test/support/random.ts'
import { ask, freshSchema, SchemaShelf } from '#test/support/stores/postgres-schema.ts'
import { until } from '#test/support/until.ts'
import { blobsSuite } from '#testing/blobs-suite.ts'
import { dispatcherSuite } from '#testing/dispatcher-suite.ts'
import { type FaultPlan, faultyLedger } from '#testing/faulty-ledger.ts'
import { newRun } from '#testing/ledger/builders.ts'
import { ledgerSuite } from '#testing/ledger-suite.ts'
import { type ReaderUnderTest, readerSuite } from '#testing/reader-suite.ts'
import { resendingLedger } from '#testing/resending-ledger.ts'

const url = process.env['TRIHAND_TEST_PG_URL'] ?? ''
const shelf = new SchemaShelf(url)
const clock = new SystemClock({ keepsAlive: false })

/** In a separate schema, by the clock of the tests. */
const open = async (plan: FaultPlan = () => null): Promise<ReaderUnderTest> => {
  const fresh = await shelf.take()
  const opening = () => openPostgres({ url: fresh.url, clock: 'caller', max: 4 })
  const wrapped = async () => resendingLedger(faultyLedger((await opening()).ledger, plan))
  const { ledger: inner, reader } = await opening()
  const ledger = resendingLedger(faultyLedger(inner, plan))
  return {
    ledger,
    reader,
    second: wrapped,
    reopen: async () => {
      await ledger.close()
      return wrapped()
    },
    close: async () => {
      await ledger.close()
      await shelf.giveBack(fresh)
    },
  }
}

const openAt = async (lastSequence: number): Promise<ReaderUnderTest> => {
  const fresh = await freshSchema(url)
  const { ledger, reader } = await openPostgres({ url: fresh.url, clock: 'caller', max: 2 })
  await ask(fresh.url, `alter table event alter column seq restart with ${lastSequence + 1}`)
  const close = async () => {
    await ledger.close()
    await fresh.drop()
  }
  return { ledger, reader, close }
}

const random = new Random(1)
const losesAnswers: FaultPlan = ({ method }) => (method === 'append' && random.chance(0.4) ? 'done_then_fail' : null)

const openDispatchers = async () => {
  const fresh = await shelf.take()
  const opened = await openPostgres({ url: fresh.url, max: 1 })
  const close = async () => {
    await opened.close()
    await shelf.giveBack(fresh)
  }
  return { fresh, opened, close }
}

describe.skipIf(url === '')('on Postgres', () => {
  afterAll(() => shelf.dropAll())

  ledgerSuite('postgres', () => open(), { reopens: true, shared: true, openAt, histories: 15 })
  ledgerSuite('postgres, answers lost', () => open(losesAnswers), {
    reopens: true,
    shared: true,
    resends: true,
    histories: 3,
  })
  readerSuite('postgres', () => open())

  blobsSuite('postgres', async () => {
    const fresh = await shelf.take()
    const opened = await openPostgres({ url: fresh.url, max: 4 })
    const again: { close(): Promise<void> }[] = []
    const reopen = async () => {
      const next = await openPostgres({ url: fresh.url, max: 1 })
      again.push(next)
      return next.blobs
    }
    const close = async () => {
      for (const one of [opened, ...again]) await one.close()
      await shelf.giveBack(fresh)
    }
    return { blobs: opened.blobs, reopen, close }
  })

  dispatcherSuite('postgres', async () => {
    const { opened, close } = await openDispatchers()
    return {
      dispatcher: opened.dispatcher(clock),
      clock,
      until: async (holds) => void (await until(holds, Boolean)),
      close,
    }
  })

  test('a wake in one process calls the listeners of the others, also after their connection was cut', async () => {
    const { opened, fresh, close } = await openDispatchers()
    const [here, there] = [opened.dispatcher(clock), opened.dispatcher(clock)]
    const received = new Set<ClaimableId>()
    await there.start((run) => received.add(run))
    const isReceived = (run: RunId) => {
      here.wake(run, clock.now())
      return received.has(run)
    }
    await until(() => isReceived(newRun()) || received.size > 0, Boolean)
    await ask(
      fresh.url,
      "select pg_terminate_backend(pid) from pg_stat_activity where application_name = current_setting('application_name') and query ~ '^(listen|select pg_notify)'",
    )
    const run = newRun()
    await until(() => isReceived(run), Boolean)
    expect(received.has(run)).toBe(true)
    for (const dispatcher of [here, there]) await dispatcher.stop()
    await close()
  })
})
