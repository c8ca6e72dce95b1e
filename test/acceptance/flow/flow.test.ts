/** Flow control of a handler: debounce, throttle, rate limit, overlap, batch, idempotency, pause; each across a crash. */
import { expect, onTestFinished, test, vi } from 'vitest'
import { Worker } from '#engine/worker/worker.ts'
import { type FunctionOptions, fn } from '#executors/workflow/function.ts'
import type { Json } from '#model/kernel/json.ts'
import { onEveryStore } from '#test/support/stores/stores.ts'
import { startTestSystem, type TestSystem } from '#testing/system.ts'

interface Seen {
  readonly at: number
  readonly input: Json
}

const START = Date.UTC(2026, 0, 1)

/** A handler that notes when it first ran and with what input. Entered again after a sleep, it notes nothing. */
const listening = (options: Partial<FunctionOptions<Json>>, seen: Seen[], now: () => number, sleep?: string) => ({
  name: 'flow',
  events: { 'order.placed': null },
  functions: [
    fn('hear', { trigger: 'order.placed', ...options }, async ({ input, step }) => {
      await step.run('note', () => void seen.push({ at: now() - START, input }))
      if (sleep !== undefined) await step.sleep('work', sleep)
      return input
    }),
  ],
})

const numbers = (seen: readonly Seen[]): readonly unknown[] => seen.map(({ input }) => (input as { n: number }).n)

onEveryStore('flow', (store) => {
  const begin = async (options: Partial<FunctionOptions<Json>>, sleep?: string) => {
    const seen: Seen[] = []
    const held: { system?: TestSystem } = {}
    const now = (): number => held.system?.clock.now() ?? START
    const system = await startTestSystem(listening(options, seen, now, sleep), store())
    held.system = system
    const send = async (...ns: readonly number[]): Promise<void> => {
      for (const n of ns) await system.send({ type: 'order.placed', data: { n, key: n % 2 } })
      await system.settle()
    }
    return { system, seen, send }
  }

  test('[H4] a burst is one run with its newest event, also if the process dies in the window', async () => {
    const { system, seen, send } = await begin({ debounce: { period: '10s' } })
    await send(1, 2)
    await system.advance('6s')
    await send(3)
    await system.crash()
    await system.advance('9s')
    expect(seen).toEqual([])
    await system.advance('2s')
    expect(numbers(seen)).toEqual([3])
    await system.close()
  })

  test('[H4] a leading debounce runs at once and drops the rest of the burst; collect receives all events', async () => {
    const leading = await begin({ debounce: { period: '10s', mode: 'leading' } })
    await leading.send(1, 2, 3)
    expect(numbers(leading.seen)).toEqual([1])
    await leading.system.advance('11s')
    await leading.send(4)
    expect(numbers(leading.seen)).toEqual([1, 4])
    await leading.system.close()
    const collect = await begin({ debounce: { period: '10s', mode: 'collect', key: 'payload.key' } })
    await collect.send(1, 2, 3)
    await collect.system.advance('11s')
    expect(collect.seen.map(({ input }) => (input as { n: number }[]).map(({ n }) => n)).sort()).toEqual([[1, 3], [2]])
    await collect.system.close()
  })

  test('[H5] throttled runs start one after another, and none is lost in a crash', async () => {
    const { system, seen, send } = await begin({ throttle: { limit: 1, period: '10s' } })
    await send(1, 2, 3, 4)
    expect(numbers(seen)).toEqual([1])
    await system.advance('15s')
    await system.crash()
    await system.advance('1m')
    expect(numbers(seen)).toEqual([1, 2, 3, 4])
    for (const [i, { at }] of seen.slice(1).entries()) expect(at - (seen[i]?.at ?? 0)).toBeGreaterThanOrEqual(10_000)
    await system.close()
  })

  test('[H6] above the rate limit an event starts nothing, and the reason is a fact', async () => {
    const { system, seen, send } = await begin({ rateLimit: { limit: 2, period: '1m', key: 'payload.key' } })
    await send(1, 3, 5, 2)
    await system.crash()
    await send(7)
    expect(numbers(seen)).toEqual([1, 3, 2])
    await system.advance('1m')
    await send(9)
    expect(numbers(seen)).toEqual([1, 3, 2, 9])
    await system.close()
  })

  test('[H7] with overlap skip a run starts only if the one before has ended; parked runs count', async () => {
    const { system, seen, send } = await begin({ overlap: 'skip' }, '1h')
    await send(1)
    await system.advance('30m')
    await system.crash()
    await send(2)
    await system.advance('31m')
    await send(3)
    expect(numbers(seen)).toEqual([1, 3])
    await system.close()
  })

  test('[H7] buffer_one keeps the newest event, buffer_all keeps all in order', async () => {
    const one = await begin({ overlap: 'buffer_one' }, '1h')
    await one.send(1, 2, 3)
    await one.system.crash()
    await one.system.advance('3h')
    expect(numbers(one.seen)).toEqual([1, 3])
    await one.system.close()
    const all = await begin({ overlap: 'buffer_all' }, '1h')
    await all.send(1, 2, 3)
    await all.system.crash()
    await all.system.advance('5h')
    expect(numbers(all.seen)).toEqual([1, 2, 3])
    await all.system.close()
  })

  test('a gate rests only after a look at all its runs, also at those that its process wrongly believes to have', async () => {
    const belief = vi.spyOn(Worker.prototype, 'isAtWork').mockReturnValue(true)
    onTestFinished(() => void belief.mockRestore())
    const { system, seen, send } = await begin({ overlap: 'buffer_all' }, '20ms')
    await send(1, 2)
    // Within a second: after that a gate that is awake looks at all its runs anyway.
    await system.advance('400ms')
    expect(numbers(seen)).toEqual([1, 2])
    expect(belief).toHaveBeenCalled()
    await system.close()
  })

  test('[H7] cancel_running ends the previous run and then starts', async () => {
    const { system, seen, send } = await begin({ overlap: 'cancel_running' }, '1h')
    await send(1)
    await send(2)
    await system.advance('2h')
    expect(numbers(seen)).toEqual([1, 2])
    const counts = await system.store.reader.counts('local' as never)
    expect(counts.get('cancelled')).toBe(1)
    expect(counts.get('success')).toBe(1)
    await system.close()
  })

  test('[J3] a batch is one run, closed by size or by time; an event that fails its condition runs alone', async () => {
    const { system, seen, send } = await begin({ batch: { maxSize: 3, maxWait: '1m', if: 'payload.n < 100' } })
    await send(1, 2, 3, 4, 100)
    const lists = (): readonly unknown[] => seen.map(({ input }) => (input as { n: number }[]).map(({ n }) => n))
    expect(lists()).toEqual([[1, 2, 3], [100]])
    await system.crash()
    await system.advance('2m')
    expect(lists()).toEqual([[1, 2, 3], [100], [4]])
    await system.close()
  })

  test('one key has one live or successful run; a failed run releases the key', async () => {
    const { system, seen, send } = await begin({ idempotency: { key: 'payload.key' } })
    await send(1, 3, 2)
    await system.crash()
    await send(5, 4)
    expect(numbers(seen)).toEqual([1, 2])
    await system.close()
  })

  test('a gate that listens to a new event type ignores its past events, and ignores a type it has dropped', async () => {
    const seen: string[] = []
    const source = (triggers: readonly string[]) => ({
      name: 'changing',
      events: { 'a.came': null, 'b.came': null, 'c.came': null },
      functions: [
        fn<{ n: number }>('hear', { triggers, rateLimit: { limit: 100, period: '1s' } }, ({ step, event, input }) =>
          step.run('note', () => void seen.push(`${event?.type} ${input.n}`)),
        ),
      ],
    })
    const system = await startTestSystem(source(['a.came', 'b.came']), store())
    const send = async (n: number): Promise<void> => {
      for (const type of ['a.came', 'b.came', 'c.came']) await system.send({ type, data: { n } })
      await system.settle()
    }
    await send(1)
    await system.crash(source(['b.came', 'c.came']))
    await send(2)
    expect(seen.sort()).toEqual(['a.came 1', 'b.came 1', 'b.came 2', 'c.came 2'])
    await system.close()
  })

  test('a handler that loses its flow control still runs what waited in its gate', async () => {
    const seen: number[] = []
    const source = (options: Partial<FunctionOptions<{ n: number }>>) => ({
      name: 'changing',
      events: { 'a.came': null },
      functions: [
        fn<{ n: number }>('hear', { trigger: 'a.came', ...options }, ({ step, input }) =>
          step.run('note', () => void seen.push(input.n)),
        ),
      ],
    })
    const system = await startTestSystem(source({ debounce: { period: '10s' } }), store())
    await system.send({ type: 'a.came', data: { n: 1 } })
    await system.settle()
    await system.crash(source({}))
    await system.send({ type: 'a.came', data: { n: 2 } })
    await system.settle()
    expect(seen).toEqual([2])
    await system.advance('11s')
    expect(seen).toEqual([2, 1])
    await system.close()
  })

  test('a paused handler holds what arrives, and starts it in order when it is resumed', async () => {
    const { system, seen, send } = await begin({ whilePaused: 'hold' })
    await system.run(() => system.engine.pauseHandler('hear', 'ana'))
    await send(1, 2)
    await system.crash()
    await send(3)
    expect(seen).toEqual([])
    await system.run(() => system.engine.resumeHandler('hear', 'ana'))
    await system.settle()
    expect(numbers(seen)).toEqual([1, 2, 3])
    await system.close()
  })
})
