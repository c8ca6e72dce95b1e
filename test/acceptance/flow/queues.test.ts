/** Queues: bounded message queues that a handler processes in cycles; each across a crash. */
import { expect, test } from 'vitest'
import { type FunctionOptions, fn } from '#executors/workflow/function.ts'
import type { SystemSource } from '#manifest/define/define.ts'
import type { QueueSource } from '#model/flow/queue-source.ts'
import type { TrihandError } from '#model/kernel/errors.ts'
import type { Json } from '#model/kernel/json.ts'
import { onEveryStore } from '#test/support/stores/stores.ts'
import { startTestSystem, type TestSystem } from '#testing/system.ts'

type Numbers = readonly { readonly n: number }[]

/** What each cycle received, and what it should do with it. */
const reading = (
  queue: Omit<QueueSource, 'name'>,
  work: (numbers: readonly number[], ids: readonly string[]) => unknown,
  options: Partial<FunctionOptions<Json>> = {},
): SystemSource => ({
  name: 'reading',
  queues: [{ name: 'orders', ...queue }],
  functions: [
    fn('handle', { source: { queue: 'orders', batch: 3 }, ...options }, ({ input, events }) =>
      work(
        (input as unknown as Numbers).map(({ n }) => n),
        events.map(({ id }) => id),
      ),
    ),
  ],
})

const put = (system: TestSystem, n: number, id?: string): Promise<unknown> =>
  system.run(() => system.engine.queues.put('orders', { n }, id === undefined ? {} : { id }))

const putAll = async (system: TestSystem, ...ns: readonly number[]): Promise<void> => {
  for (const n of ns) await put(system, n)
}

const codeOf = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => 'taken',
    (error: TrihandError) => error.code,
  )

const show = (system: TestSystem) => system.run(() => system.engine.queues.show('orders'))

onEveryStore('queues', (store) => {
  test('[I1] queue-coordinator-1 messages are processed in order, one cycle at a time, also if the process dies', async () => {
    const cycles: (readonly number[])[] = []
    const source: SystemSource = {
      ...reading({}, () => null),
      functions: [
        fn('handle', { source: { queue: 'orders', batch: 2 } }, async ({ input, step }) => {
          await step.run('note', () => void cycles.push((input as unknown as Numbers).map(({ n }) => n)))
          await step.sleep('work', '10s')
        }),
      ],
    }
    const system = await startTestSystem(source, store())
    await putAll(system, 1)
    await system.settle()
    await putAll(system, 2, 3, 4)
    await system.settle()
    expect(cycles).toEqual([[1]])
    expect(await show(system)).toMatchObject({ length: 3, inFlight: 1, dead: 0 })
    await system.crash()
    await system.advance('10s')
    expect(cycles).toEqual([[1], [2, 3]])
    await system.advance('25s')
    expect(cycles).toEqual([[1], [2, 3], [4]])
    expect(await show(system)).toMatchObject({ length: 0, inFlight: 0, dead: 0 })
    await system.close()
  })

  test('[I1] a failing message returns later each time, and finally becomes a dead letter', async () => {
    const seen: number[] = []
    const told: Json[] = []
    const base = reading({ maxAttempts: 3 }, (numbers, ids) => {
      seen.push(...numbers)
      return { items: ids.map((id, i) => ({ id, status: numbers[i] === 2 ? 'failed' : 'success' })) }
    })
    const mourn = fn('mourn', { trigger: 'trihand.queue.dead' }, ({ input }) => void told.push(input))
    const source = { ...base, functions: [...(base.functions ?? []), mourn] }
    const system = await startTestSystem(source, store())
    await putAll(system, 1, 2, 3)
    await system.settle()
    expect(seen.toSorted()).toEqual([1, 2, 3])
    await system.advance('1s')
    expect(seen.filter((n) => n === 2)).toHaveLength(2)
    await system.crash()
    await system.advance('2s')
    expect(seen.filter((n) => n === 2)).toHaveLength(3)
    await system.advance('1h')
    expect(seen.filter((n) => n === 2)).toHaveLength(3)
    expect(told).toMatchObject([{ queue: 'orders', data: { n: 2 }, attempts: 3 }])
    expect(await show(system)).toMatchObject({ length: 0, dead: 1 })
    expect(await system.run(() => system.engine.queues.revive('orders'))).toBe(1)
    await system.settle()
    expect(seen.filter((n) => n === 2)).toHaveLength(4)
    await system.close()
  })

  test('[I1] a cycle that exceeds the visibility timeout is ended, and its messages go to another', async () => {
    let tries = 0
    const source: SystemSource = {
      ...reading({ visibility: '30s' }, () => null),
      functions: [
        fn('handle', { source: { queue: 'orders' } }, async ({ step }) => {
          const first = await step.run('count', () => ++tries)
          if (first === 1) await step.sleep('hang', '10m')
        }),
      ],
    }
    const system = await startTestSystem(source, store())
    await put(system, 1)
    await system.advance('29s')
    expect(tries).toBe(1)
    await system.advance('3s')
    expect(tries).toBe(2)
    expect(await show(system)).toMatchObject({ length: 0, inFlight: 0, dead: 0 })
    await system.close()
  })

  test('[M4] queues-2 a full queue refuses messages, and accepts them again when there is room', async () => {
    const source = reading({ maxLength: 2 }, () => null, { source: { queue: 'orders', batch: 1 } })
    const waiting = { ...source, functions: [] }
    const system = await startTestSystem(waiting, store())
    const answers = await Promise.all([1, 2, 3, 4].map((n) => codeOf(put(system, n))))
    expect(answers.toSorted()).toEqual(['QUEUE_FULL', 'QUEUE_FULL', 'taken', 'taken'])
    expect(await show(system)).toMatchObject({ length: 2, handler: null })
    await system.crash(source)
    await system.settle()
    expect(await show(system)).toMatchObject({ length: 0 })
    expect(await codeOf(put(system, 5))).toBe('taken')
    await system.close()
  })

  test('[M4] with other onFull settings the oldest message is dropped, or the sender waits for room', async () => {
    const seen: number[] = []
    const base = reading({ maxLength: 2, onFull: 'drop_oldest' }, (numbers) => void seen.push(...numbers))
    const system = await startTestSystem({ ...base, functions: [] }, store())
    await putAll(system, 1, 2, 3, 4)
    await system.crash(base)
    await system.settle()
    expect(seen).toEqual([3, 4])
    const blocking = reading({ maxLength: 1, onFull: 'block' }, (numbers) => void seen.push(...numbers))
    await system.crash({ ...blocking, functions: [] })
    await put(system, 5)
    let answer = ''
    const late = codeOf(system.engine.queues.put('orders', { n: 6 }, { waitMs: 1_000 })).then((code) => {
      answer = code
    })
    while (answer === '') await system.advance('1s')
    await late
    expect(answer).toBe('QUEUE_FULL')
    await system.close()
  })

  test('[I1] queues-1 the same message twice is one, and another under its id is refused', async () => {
    const seen: number[] = []
    const system = await startTestSystem(
      reading({}, (numbers) => void seen.push(...numbers)),
      store(),
    )
    await put(system, 1, 'one')
    expect(await put(system, 1, 'one')).toMatchObject({ duplicate: true })
    expect(await codeOf(put(system, 2, 'one'))).toBe('EVENT_ID_REUSED')
    await system.settle()
    expect(seen).toEqual([1])
    await system.close()
  })

  test('[I1] as many cycles as its handler may have are active at once', async () => {
    let most = 0
    let now = 0
    const source: SystemSource = {
      ...reading({}, () => null),
      functions: [
        fn('handle', { source: { queue: 'orders', batch: 1 }, concurrency: 2 }, async ({ step }) => {
          await step.run('begin', () => {
            most = Math.max(most, ++now)
          })
          await step.sleep('work', '5s')
          await step.run('end', () => void now--)
        }),
      ],
    }
    const system = await startTestSystem(source, store())
    await putAll(system, 1, 2, 3, 4)
    await system.advance('30s')
    expect(most).toBe(2)
    expect(await show(system)).toMatchObject({ length: 0, inFlight: 0 })
    await system.close()
  })
})
