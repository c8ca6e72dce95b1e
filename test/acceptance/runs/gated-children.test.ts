/** `step.invoke` and steps of plans pass the flow control of what they call, unless the call says `gate: none`. */
import { expect, test } from 'vitest'
import { type FunctionOptions, fn } from '#executors/workflow/function.ts'
import type { InvokeStepOptions, Step } from '#executors/workflow/step-api.ts'
import { LOCAL_TENANT } from '#model/kernel/ids.ts'
import type { Json } from '#model/kernel/json.ts'
import type { Ledger } from '#ports/ledger.ts'
import { onEveryStore } from '#test/support/stores/stores.ts'
import { until } from '#test/support/until.ts'
import { startTestSystem, type TestStore, type TestSystem } from '#testing/system.ts'

const START = Date.UTC(2026, 0, 1)

/** While armed, an append that records a child is never written, and no call is answered any more. */
const dyingStore = (inner: TestStore) => {
  const life = { isArmed: false, isDead: false }
  const dying = (ledger: Ledger): Ledger => ({
    append: async (batch) => {
      const facts = batch.flatMap(({ writes }) => writes.flatMap((write) => write.facts))
      life.isDead ||= life.isArmed && facts.some(({ type }) => type === 'child.started')
      return life.isDead ? new Promise(() => {}) : ledger.append(batch)
    },
    load: (streams, options) => ledger.load(streams, options),
    events: (query) => ledger.events(query),
    claim: (request) => ledger.claim(request),
    beat: (request) => ledger.beat(request),
    retire: (worker, now) => ledger.retire(worker, now),
    close: () => ledger.close(),
  })
  const open: TestStore['open'] = async (clock) => {
    Object.assign(life, { isArmed: false, isDead: false })
    const store = await inner.open(clock)
    return { ...store, ledger: dying(store.ledger) }
  }
  return { place: { ...inner, open }, life }
}

interface Seen {
  readonly at: number
  readonly input: Json
}

onEveryStore('children at a gate', (store) => {
  const begin = async (
    options: Partial<FunctionOptions<Json>>,
    call: InvokeStepOptions = {},
    sleep?: string,
    place: TestStore = store(),
  ) => {
    const seen: Seen[] = []
    const held: { system?: TestSystem } = {}
    const system = await startTestSystem(
      {
        name: 'children',
        events: { 'order.placed': null },
        functions: [
          fn('parent', {}, ({ input, step }) => step.invoke('call', 'limited', input, call)),
          fn('family', {}, ({ input, step }) =>
            Promise.all((input as number[]).map((n) => step.invoke('call', 'limited', n, { ...call, key: `${n}` }))),
          ),
          fn('limited', options, async ({ input, step }) => {
            await step.run('note', () => {
              seen.push({ at: (held.system?.clock.now() ?? START) - START, input })
            })
            if (sleep !== undefined) await step.sleep('work', sleep)
            return { done: input }
          }),
        ],
      },
      place,
    )
    held.system = system
    const end = async (run: Awaited<ReturnType<TestSystem['start']>>) => {
      await system.settle()
      const { status, output, error } = await system.look(run)
      return { status, output, code: error?.code ?? null }
    }
    return { system, seen, end }
  }

  test('[H5] children wait for their turn in the throttle of their handler, also across a crash (14.4.3)', async () => {
    const { system, seen, end } = await begin({ throttle: { limit: 1, period: '10s' } })
    const run = await system.start('family', [1, 2, 3])
    await system.settle()
    await system.crash()
    await system.advance('1m')
    expect(seen.map(({ at }) => at)).toEqual([0, 10_000, 20_000])
    expect(await end(run)).toMatchObject({ status: 'success', output: [1, 2, 3].map((n) => ({ done: n })) })
    await system.close()
  })

  test('[L10] a child that waits for its turn blocks its parent, and continues after a crash (14.4.3)', async () => {
    const { system, seen, end } = await begin({ overlap: 'buffer_all' }, {}, '10s')
    const runs = [await system.start('parent', 1), await system.start('parent', 2)]
    await system.settle()
    expect(seen.map(({ input }) => input)).toEqual([1])
    await system.crash()
    await system.advance('30s')
    expect(seen.map(({ at, input }) => [at, input])).toEqual([
      [0, 1],
      [10_000, 2],
    ])
    for (const [i, run] of runs.entries())
      expect(await end(run)).toMatchObject({ status: 'success', output: { done: i + 1 } })
    await system.close()
  })

  test('[L10] gate-6: a parent gets the result of the run that has the key of its call (14.4.3)', async () => {
    const { system, seen, end } = await begin({ idempotency: { key: 'payload.id' } }, {}, '10s')
    const first = await system.start('limited', { id: 1 })
    const parents = [await system.start('parent', { id: 1 }), await system.start('parent', { id: 1 })]
    await system.settle()
    await system.crash()
    await system.advance('30s')
    const late = await system.start('parent', { id: 1 })
    await system.settle()
    expect(seen).toHaveLength(1)
    expect(await end(first)).toMatchObject({ status: 'success' })
    for (const run of [...parents, late])
      expect(await end(run)).toMatchObject({ status: 'success', output: { done: { id: 1 } } })
    await system.close()
  })

  test('[L10] a parent whose call has a kept key gets the end of the run that holds it (14.4.3)', async () => {
    const idempotency = { key: 'payload.id', release: 'ttl', ttl: '1h' } as const
    const { system, seen, end } = await begin({ idempotency }, {}, '10s')
    await system.start('limited', { id: 1 })
    const run = await system.start('parent', { id: 1 })
    await system.advance('30s')
    expect(seen).toHaveLength(1)
    expect(await end(run)).toMatchObject({ status: 'success', output: { done: { id: 1 } } })
    await system.close()
  })

  test("[L10] gated-child-2: cancelling a parent does not end another caller's run that it waits for (14.4.3)", async () => {
    const { system, end } = await begin({ idempotency: { key: 'payload.id' } }, {}, '10s')
    const first = await system.start('limited', { id: 1 })
    const parent = await system.start('parent', { id: 1 })
    await system.settle()
    await system.run(() => system.engine.cancel(parent, 'ana', 'not needed'))
    await system.advance('30s')
    expect(await end(parent)).toMatchObject({ status: 'cancelled' })
    expect(await end(first)).toMatchObject({ status: 'success' })
    await system.close()
  })

  test.each<readonly [string, Partial<FunctionOptions<Json>>]>([
    ['begins at once', { throttle: { limit: 5, period: '10s' } }],
    ['waits for its turn', { whilePaused: 'hold' }],
    ['has a key', { idempotency: { key: 'payload' } }],
  ])(
    '[L10] gated-child-1: a child that %s is one run though its parent died before it recorded the call (14.4.3)',
    async (_, options) => {
      const { place, life } = dyingStore(store())
      const { system, seen, end } = await begin(options, {}, undefined, place)
      if (options.whilePaused === 'hold') await system.run(() => system.engine.pauseHandler('limited', 'ana'))
      life.isArmed = true
      void system.start('parent', 1).catch(() => {})
      await until(
        () => Promise.resolve(life.isDead),
        (isDead) => isDead,
        { what: 'the parent is about to record its call' },
      )
      await system.crash()
      if (options.whilePaused === 'hold') await system.run(() => system.engine.resumeHandler('limited', 'ana'))
      await system.settle()
      const named = (handler: string) =>
        system.store.reader.runs({ tenant: LOCAL_TENANT, handler, status: null, before: null, limit: 10 })
      for (const { id } of await named('parent'))
        expect(await end(id)).toMatchObject({ status: 'success', output: { done: 1 } })
      expect(await named('parent')).toHaveLength(1)
      expect(await named('limited')).toHaveLength(1)
      expect(seen.length).toBeGreaterThan(0)
      await system.close()
    },
  )

  test("[H6] a child that its gate turns away fails the step with the gate's code (14.4.3)", async () => {
    const { system, end } = await begin({ rateLimit: { limit: 1, period: '1m' } })
    expect(await end(await system.start('parent', 1))).toMatchObject({ status: 'success' })
    expect(await end(await system.start('parent', 2))).toMatchObject({ status: 'failed', code: 'RATE_LIMITED' })
    await system.close()
    const strict = await begin({ idempotency: { key: 'payload.id', onConflict: 'reject' } }, {}, '1h')
    await strict.system.start('limited', { id: 1 })
    const refused = await strict.system.start('parent', { id: 1 })
    await strict.system.settle()
    expect(await strict.end(refused)).toMatchObject({ status: 'failed', code: 'RUN_EXISTS' })
    await strict.system.close()
  })

  test('[L1] a paused handler turns children away, or holds them until it is resumed (14.4.3)', async () => {
    const away = await begin({ whilePaused: 'suppress', overlap: 'buffer_all' })
    await away.system.run(() => away.system.engine.pauseHandler('limited', 'ana'))
    expect(await away.end(await away.system.start('parent', 1))).toMatchObject({ code: 'HANDLER_PAUSED' })
    await away.system.close()
    const { system, seen, end } = await begin({ whilePaused: 'hold' })
    await system.run(() => system.engine.pauseHandler('limited', 'ana'))
    const run = await system.start('parent', 1)
    await system.settle()
    await system.crash()
    await system.advance('1m')
    expect(seen).toEqual([])
    await system.run(() => system.engine.resumeHandler('limited', 'ana'))
    await system.settle()
    expect(await end(run)).toMatchObject({ status: 'success', output: { done: 1 } })
    await system.close()
  })

  test('cancelling a parent removes its waiting call from the queue (14.4.3)', async () => {
    const { system, seen, end } = await begin({ overlap: 'buffer_all' }, {}, '10s')
    const [first, second] = [await system.start('parent', 1), await system.start('parent', 2)]
    await system.settle()
    await system.run(() => system.engine.cancel(second, 'ana', 'not needed'))
    await system.settle()
    expect(await end(second)).toMatchObject({ status: 'cancelled' })
    const third = await system.start('parent', 3)
    await system.advance('30s')
    expect(seen.map(({ input }) => input)).toEqual([1, 3])
    for (const run of [first, third]) expect(await end(run)).toMatchObject({ status: 'success' })
    await system.close()
  })

  test.each(['buffer_one', 'buffer_all'] as const)(
    '[L10] gate-8: with %s a run that would wait for its own end is refused, with a hint (14.4.3)',
    async (overlap) => {
      interface Way {
        readonly key: string
        readonly next: readonly { readonly to: 'line' | 'plain'; readonly key: string; readonly gate?: 'none' }[]
      }
      const go = async ({ input: { next: calls }, step }: { readonly input: Way; readonly step: Step }) => {
        const [next, ...rest] = calls
        if (next === undefined) return 'done'
        const { to, key, gate } = next
        return step.invoke('call', to, { key, next: rest }, gate === undefined ? {} : { gate })
      }
      const functions = [fn<Way>('line', { overlap, overlapKey: 'payload.key' }, go), fn<Way>('plain', {}, go)]
      const system = await startTestSystem({ name: 'itself', functions }, store())
      const of = async (...next: Way['next']) => {
        const run = await system.start('line', { key: 'k', next })
        await system.settle()
        const { status, output, error } = await system.look(run)
        return { run, status, output, error }
      }
      for (const by of [[], [{ to: 'plain', key: 'k' }]] as const) {
        const { run, status, error } = await of(...by, { to: 'line', key: 'k' })
        expect({ status, code: error?.code }).toEqual({ status: 'failed', code: 'RUN_WAITS_FOR_ITSELF' })
        expect(error?.message).toContain(run)
      }
      expect(await of({ to: 'line', key: 'other' })).toMatchObject({ status: 'success', output: 'done' })
      expect(await of({ to: 'line', key: 'k', gate: 'none' })).toMatchObject({ status: 'success', output: 'done' })
      await system.close()
    },
  )

  test('[L10] a call with gate: none skips flow control, and any other value is refused (14.4.3)', async () => {
    const { system, seen, end } = await begin({ throttle: { limit: 1, period: '1h' } }, { gate: 'none' })
    const run = await system.start('family', [1, 2, 3])
    await system.settle()
    expect(seen.map(({ at }) => at)).toEqual([0, 0, 0])
    expect(await end(run)).toMatchObject({ status: 'success' })
    await system.close()
    const wrong = await begin({}, { gate: 'all' } as unknown as InvokeStepOptions)
    expect(await wrong.end(await wrong.system.start('parent', 1))).toMatchObject({ code: 'MANIFEST_INVALID' })
    await wrong.system.close()
  })

  test('[N2] steps of a plan pass the flow control of their handlers, except those with gate: none (14.4.3)', async () => {
    const seen: (readonly [Json, number])[] = []
    const held: { system?: TestSystem } = {}
    const steps = (gate?: 'none') =>
      ['a', 'b'].map((id) => ({
        id,
        assignedTo: 'workflow',
        workflowConfig: { functionName: 'limited', inputs: { id } },
        ...(gate !== undefined && { gate }),
      }))
    const system = await startTestSystem(
      {
        name: 'plans',
        functions: [
          fn('limited', { throttle: { limit: 1, period: '10s' } }, ({ input, step }) =>
            step.run('note', () => void seen.push([input, (held.system?.clock.now() ?? START) - START])),
          ),
          fn('turns', { plan: { approve: 'auto', steps: steps() } }),
          fn('at-once', { plan: { approve: 'auto', steps: steps('none') } }),
        ],
      },
      store(),
    )
    held.system = system
    const run = await system.start('turns', {})
    await system.advance('1m')
    expect(seen.map(([, at]) => at)).toEqual([0, 10_000])
    expect(await system.look(run)).toMatchObject({ status: 'success' })
    await system.start('at-once', {})
    await system.settle()
    expect(seen.slice(2).map(([, at]) => at)).toEqual([60_000, 60_000])
    await system.close()
  })
})
