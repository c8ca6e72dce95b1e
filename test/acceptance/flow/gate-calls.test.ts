/** Runs that are started by name pass the gate of their handler as events do: calls, and slots of schedules. */
import { expect, test } from 'vitest'
import { type FunctionOptions, fn } from '#executors/workflow/function.ts'
import type { SystemSource } from '#manifest/define/define.ts'
import type { Json } from '#model/kernel/json.ts'
import { onEveryStore } from '#test/support/stores/stores.ts'
import { startTestSystem, type TestSystem } from '#testing/system.ts'

const START = Date.UTC(2026, 0, 1)

interface Seen {
  readonly at: number
  readonly input: Json
}

onEveryStore('calls at a gate', (store) => {
  const begin = async (options: Partial<FunctionOptions<Json>>, more: Partial<SystemSource> = {}, sleep?: string) => {
    const seen: Seen[] = []
    const held: { system?: TestSystem } = {}
    const system = await startTestSystem(
      {
        name: 'calls',
        events: { 'order.placed': null },
        functions: [
          fn('hear', { trigger: 'order.placed', ...options }, async ({ input, step, schedule }) => {
            await step.run('note', () => {
              seen.push({
                at: (held.system?.clock.now() ?? START) - START,
                input: schedule === null ? input : schedule.slot,
              })
            })
            if (sleep !== undefined) await step.sleep('work', sleep)
            return input
          }),
        ],
        ...more,
      },
      store(),
    )
    held.system = system
    return { system, seen }
  }

  test('[L10] a call with the key of an existing run returns that run, or is refused', async () => {
    const { system, seen } = await begin({ idempotency: { key: 'payload.id' } }, {}, '1h')
    const first = await system.start('hear', { id: 1 })
    await system.crash()
    expect(await system.start('hear', { id: 1 })).toBe(first)
    expect(await system.start('hear', { id: 2 })).not.toBe(first)
    await system.settle()
    expect(seen.map(({ input }) => input)).toEqual([{ id: 1 }, { id: 2 }])
    await system.close()
    const strict = await begin({ idempotency: { key: 'payload.id', onConflict: 'reject' } }, {}, '1h')
    await strict.system.start('hear', { id: 1 })
    await expect(strict.system.start('hear', { id: 1 })).rejects.toMatchObject({ code: 'RUN_EXISTS' })
    await strict.system.close()
  })

  test('[H6] gate-calls-1: calls and events share the rate limit, and a refused call says until when', async () => {
    const { system, seen } = await begin({ rateLimit: { limit: 2, period: '1m' } })
    await system.start('hear', 1)
    await system.send({ type: 'order.placed', data: { n: 2 } })
    await system.settle()
    await system.crash()
    await expect(system.start('hear', 3)).rejects.toMatchObject({ code: 'RATE_LIMITED' })
    await system.advance('1m')
    await system.start('hear', 4)
    await system.settle()
    expect(seen.map(({ input }) => input)).toEqual([1, { n: 2 }, 4])
    await system.close()
  })

  test('[H5] calls wait for their turn in the throttle', async () => {
    const { system, seen } = await begin({ throttle: { limit: 1, period: '10s' } })
    for (const n of [1, 2, 3]) await system.start('hear', n)
    await system.crash()
    await system.advance('1m')
    expect(seen.map(({ at, input }) => [at, input])).toEqual([
      [0, 1],
      [10_000, 2],
      [20_000, 3],
    ])
    await system.close()
  })

  test('[H7] gate-calls-1: a waiting call keeps its run id across a crash; a displaced one ends with the reason', async () => {
    const { system, seen } = await begin({ overlap: 'buffer_one' }, {}, '1h')
    await system.start('hear', 1)
    await system.settle()
    const displaced = await system.start('hear', 2)
    const waiting = await system.start('hear', 3)
    await system.crash()
    expect(await system.look(displaced)).toMatchObject({ status: 'cancelled', error: { code: 'RUN_EXISTS' } })
    await system.advance('3h')
    expect(seen.map(({ input }) => input)).toEqual([1, 3])
    expect(await system.look(waiting)).toMatchObject({ status: 'success', output: 3 })
    await system.close()
  })

  test('a paused handler refuses calls, or holds them until it is resumed', async () => {
    const refusing = await begin({ overlap: 'skip' })
    await refusing.system.run(() => refusing.system.engine.pauseHandler('hear', 'ana'))
    await expect(refusing.system.start('hear', 1)).rejects.toMatchObject({ code: 'HANDLER_PAUSED' })
    await refusing.system.close()
    const { system, seen } = await begin({ whilePaused: 'hold' })
    await system.run(() => system.engine.pauseHandler('hear', 'ana'))
    const run = await system.start('hear', 1)
    await system.crash()
    await system.settle()
    expect(seen).toEqual([])
    await system.run(() => system.engine.resumeHandler('hear', 'ana'))
    await system.settle()
    expect(await system.look(run)).toMatchObject({ status: 'success' })
    await system.close()
  })

  test('[H5] slots of a schedule wait for their turn in the throttle of their handler', async () => {
    const schedules = [1, 2, 3].map((n) => ({ name: `s${n}`, at: START + 60_000, function: 'hear', input: n }))
    const { system, seen } = await begin({ throttle: { limit: 1, period: '10s' } }, { schedules })
    await system.advance('65s')
    await system.crash()
    await system.advance('1m')
    expect(seen.map(({ at }) => at)).toEqual([60_000, 70_000, 80_000])
    await system.close()
  })

  test('[H6] a slot over the rate limit is a run that ends with the reason, and the next slot receives it', async () => {
    const schedules = [{ name: 'tick', every: '10s', function: 'hear' }]
    const { system, seen } = await begin({ rateLimit: { limit: 1, period: '30s' } }, { schedules })
    await system.advance('15s')
    await system.crash()
    await system.advance('30s')
    expect(seen.map(({ at }) => at)).toEqual([10_000, 40_000])
    const { fired, last } = await system.engine.schedules.show('tick')
    expect([fired, last?.status]).toEqual([4, 'success'])
    await system.close()
  })

  test('[H7] a slot waits behind a run of its handler that it did not start', async () => {
    const schedules = [{ name: 'once', at: START + 60_000, function: 'hear', input: 'slot' }]
    const { system, seen } = await begin({ overlap: 'buffer_all' }, { schedules }, '1h')
    await system.start('hear', 'call')
    await system.advance('2m')
    expect(seen.map(({ at }) => at)).toEqual([0])
    await system.crash()
    await system.advance('2h')
    expect(seen.map(({ at }) => at)).toEqual([0, 3_600_000])
    await system.start('hear', 'again')
    await system.settle()
    expect(seen).toHaveLength(3)
    await system.close()
  })
})
