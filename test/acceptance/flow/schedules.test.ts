/** Schedules: slots become runs, missed ones are recorded, overlaps are handled by policy, and a crash loses and doubles nothing. */
import { expect, test } from 'vitest'
import { SystemIds } from '#adapters/system/ids.ts'
import { scheduleOf } from '#engine/coordinators/schedule-coordinator.ts'
import { fn } from '#executors/workflow/function.ts'
import type { SystemSource } from '#manifest/define/define.ts'
import { readScheduleFact } from '#model/kernel/fact-codec.ts'
import { LOCAL_TENANT } from '#model/kernel/ids.ts'
import type { ScheduleContext } from '#ports/step-port.ts'
import { onEveryStore } from '#test/support/stores/stores.ts'
import { startTestSystem, type TestSystem } from '#testing/system.ts'

const START = Date.UTC(2026, 0, 1)
const MINUTE = 60_000

type Schedule = NonNullable<SystemSource['schedules']>[number]

interface Fired {
  readonly slot: number
  readonly schedule: ScheduleContext | null
}

const system = (schedule: Partial<Schedule>, fired: Fired[], sleep?: string): SystemSource => ({
  name: 'clock',
  events: { 'day.began': null },
  schedules: [{ name: 'tick', function: 'work', tz: 'UTC', ...schedule }],
  functions: [
    fn('work', {}, async ({ schedule: why, step }) => {
      await step.run('note', () => void fired.push({ slot: ((why?.slot ?? 0) - START) / MINUTE, schedule: why }))
      if (sleep !== undefined) await step.sleep('long', sleep)
      return { slot: why?.slot ?? 0 }
    }),
    fn('hear', { trigger: 'day.began' }, ({ input }) => input),
  ],
})

const slots = (fired: readonly Fired[]): readonly number[] => fired.map(({ slot }) => slot)

/** All facts of the one schedule. */
const factsOf = async (running: TestSystem) => {
  const id = scheduleOf(new SystemIds(), LOCAL_TENANT, 'tick')
  const [record] = await running.store.ledger.load([id])
  return (record?.facts ?? []).map(readScheduleFact)
}

onEveryStore('schedules', (store) => {
  test('[H1] a cron schedule fires at each of its slots, once, across a crash', async () => {
    const fired: Fired[] = []
    const running = await startTestSystem(system({ cron: '*/10 * * * *' }, fired), store())
    await running.advance('25m')
    await running.crash()
    await running.advance('10m')
    expect(slots(fired)).toEqual([10, 20, 30])
    await running.close()
  })

  test('[H2] an interval keeps its phase from the epoch, whenever the process starts', async () => {
    const fired: Fired[] = []
    const running = await startTestSystem(system({ every: '10m', phase: '3m' }, fired), store())
    await running.advance('25m')
    expect(slots(fired)).toEqual([3, 13, 23])
    await running.close()
  })

  test('[H3] a moment runs once, also if the process was down at that moment', async () => {
    const fired: Fired[] = []
    const running = await startTestSystem(system({ at: START + 5 * MINUTE }, fired), store())
    await running.crash()
    await running.advance('2h')
    expect(slots(fired)).toEqual([5])
    await running.crash()
    await running.advance('2h')
    expect(slots(fired)).toEqual([5])
    await running.close()
  })

  test('[H8] five minutes, a day of downtime: one run for the newest slot, 287 recorded misses', async () => {
    const fired: Fired[] = []
    const running = await startTestSystem(system({ cron: '*/5 * * * *' }, fired), store())
    await running.advance('1m')
    await running.crash(undefined, { down: '1d' })
    expect(fired).toHaveLength(1)
    expect(fired[0]?.schedule?.missed).toMatchObject({ count: 287 })
    const skipped = (await factsOf(running)).flatMap((fact) => (fact.type === 'schedule.skipped' ? [fact.count] : []))
    expect(skipped.reduce((sum, count) => sum + count, 0)).toBe(287)
    await running.close()
  })

  test('[H9] a run receives the end and the output of the run before', async () => {
    const fired: Fired[] = []
    const running = await startTestSystem(system({ every: '10m' }, fired), store())
    await running.advance('11m')
    await running.crash()
    await running.advance('10m')
    expect(fired.map(({ schedule }) => schedule?.last)).toMatchObject([
      null,
      { status: 'success', slot: START + 10 * MINUTE, output: { slot: START + 10 * MINUTE } },
    ])
    await running.close()
  })

  test('[H7] by default a slot is skipped while the run before it has not ended', async () => {
    const fired: Fired[] = []
    const running = await startTestSystem(system({ every: '10m' }, fired, '15m'), store())
    await running.advance('45m')
    expect(slots(fired)).toEqual([10, 30])
    const skipped = (await factsOf(running)).flatMap((fact) => (fact.type === 'schedule.skipped' ? [fact.reason] : []))
    expect(skipped).toEqual(['overlap', 'overlap'])
    await running.close()
  })

  test('[H10] jitter moves a slot by less than its bound, to the same instant in every process', async () => {
    const fired: Fired[] = []
    const place = store()
    const running = await startTestSystem(system({ every: '10m', jitter: '5m' }, fired), place)
    await running.advance('10m')
    const due = (await running.engine.schedules.show('tick')).nextAt
    await running.crash()
    expect((await running.engine.schedules.show('tick')).nextAt).toBe(due)
    await running.advance('6m')
    expect(slots(fired)).toEqual([10])
    await running.close()
  })

  test('the outcome of slots is sent as events, with the reason of a pause, and a dry-run backfill only counts', async () => {
    const fired: Fired[] = []
    const running = await startTestSystem(system({ every: '10m' }, fired), store())
    await running.advance('10m')
    const { schedules } = running.engine
    await running.run(() => schedules.pause('tick', { by: 'ana', note: 'the shop moves' }))
    expect(await running.run(() => schedules.show('tick'))).toMatchObject({
      pausedFor: 'the shop moves',
      status: 'paused',
    })
    await running.advance('20m')
    await running.run(() => schedules.resume('tick', { by: 'ana' }))
    await running.advance('10m')
    const past = await running.run(() => schedules.slots('tick', 20))
    expect(past.map(({ outcome, reason, count }) => [outcome, reason, count])).toEqual([
      ['success', null, 1],
      ['skipped', 'paused', 2],
      ['success', null, 1],
    ])
    const span = { from: START, to: START + 30 * MINUTE }
    expect(await running.run(() => schedules.rehearseBackfill('tick', span))).toHaveLength(4)
    expect(slots(fired)).toEqual([10, 40])
    await running.close()
  })

  test('a schedule is paused, resumed, and run on request', async () => {
    const fired: Fired[] = []
    const running = await startTestSystem(system({ every: '10m' }, fired), store())
    await running.run(() => running.engine.schedules.pause('tick', { by: 'ana' }))
    await running.advance('30m')
    await running.crash()
    expect(fired).toEqual([])
    await running.run(() => running.engine.schedules.runNow('tick', { id: 'r1', by: 'ana' }))
    await running.run(() => running.engine.schedules.runNow('tick', { id: 'r1', by: 'ana' }))
    await running.settle()
    expect(fired).toHaveLength(1)
    await running.run(() => running.engine.schedules.resume('tick', { by: 'ana' }))
    await running.advance('10m')
    expect(slots(fired)).toEqual([30, 40])
    await running.close()
  })

  test('[H8] a backfill that is requested during a pause runs in the pause, and runNow beside it waits for its turn (14.4.5)', async () => {
    const fired: Fired[] = []
    const running = await startTestSystem(system({ every: '10m', overlap: 'buffer_all' }, fired, '1m'), store())
    const { schedules } = running.engine
    await running.advance('30m')
    await running.run(() => schedules.pause('tick', { by: 'ana' }))
    await running.advance('5m')
    fired.length = 0
    await running.run(() => schedules.backfill('tick', { from: START + MINUTE, to: START + 30 * MINUTE, id: 'b1' }))
    await running.settle()
    expect(slots(fired)).toEqual([10])
    await running.run(() => schedules.runNow('tick', { id: 'r1', by: 'ana' }))
    await running.advance('1m')
    expect(slots(fired)).toEqual([10, 20])
    await running.crash()
    await running.advance('10m')
    expect(slots(fired)).toEqual([10, 20, 30, 35])
    expect(await running.run(() => running.engine.schedules.show('tick'))).toMatchObject({
      status: 'paused',
      waiting: 0,
      running: 0,
    })
    await running.close()
  })

  test('[H8] a pause holds back the rest of a backfill until the schedule is resumed (14.4.5)', async () => {
    const fired: Fired[] = []
    const running = await startTestSystem(system({ every: '10m' }, fired, '1m'), store())
    const { schedules } = running.engine
    await running.advance('32m')
    fired.length = 0
    await running.run(() => schedules.backfill('tick', { from: START + MINUTE, to: START + 30 * MINUTE, id: 'b1' }))
    await running.settle()
    await running.run(() => schedules.pause('tick', { by: 'ana' }))
    await running.advance('5m')
    expect(slots(fired)).toEqual([10])
    await running.run(() => schedules.runNow('tick', { id: 'r1', by: 'ana' }))
    await running.settle()
    expect(slots(fired)).toEqual([10, 37])
    await running.run(() => schedules.resume('tick', { by: 'ana' }))
    await running.advance('3m')
    expect(slots(fired).slice(2)).toEqual([20, 30])
    await running.close()
  })

  test('a schedule may send an event instead of starting a function', async () => {
    const fired: Fired[] = []
    const { function: _, ...rest } = { function: '', every: '10m', emit: 'day.began', input: { n: 1 } }
    const source = system({}, fired)
    const running = await startTestSystem({ ...source, schedules: [{ name: 'tick', ...rest }] }, store())
    await running.advance('25m')
    const events = await running.store.reader.events({ tenant: LOCAL_TENANT, type: null, before: null, limit: 10 })
    expect(events.map(({ type, data }) => [type, data])).toEqual([
      ['day.began', { n: 1 }],
      ['day.began', { n: 1 }],
    ])
    expect((await running.store.reader.counts(LOCAL_TENANT)).get('success')).toBe(2)
    await running.close()
  })
})
