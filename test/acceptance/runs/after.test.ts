/** Functions that start when a run of another function has ended. */
import { expect, test } from 'vitest'
import { fn } from '#executors/workflow/function.ts'
import { normalise } from '#manifest/define/define.ts'
import type { EndStatus } from '#model/event/watch.ts'
import { LOCAL_TENANT } from '#model/kernel/ids.ts'
import { onEveryStore } from '#test/support/stores/stores.ts'
import { startTestSystem } from '#testing/system.ts'

const after = (name: string, status?: EndStatus | readonly EndStatus[]) =>
  fn(name, { trigger: { after: 'work', ...(status === undefined ? {} : { status }) } }, ({ input }) => input)

const source = {
  name: 'after',
  events: { go: null },
  functions: [
    fn('work', { trigger: 'go', retry: { maxAttempts: 1 } }, async ({ input, step }) => {
      const { what } = input as { readonly what: string }
      if (what === 'fail') throw new Error('it broke')
      if (what === 'wait') await step.sleep('long', '1h')
      return { what }
    }),
    fn('other', { trigger: 'go' }, () => 'nobody listens to me'),
    after('praise'),
    after('mend', ['failed', 'cancelled']),
    after('count', 'ended'),
  ],
}

onEveryStore('after', (store) => {
  test('[L9] ending-1: the end of a run starts the functions that wait for ends of that kind, with its output', async () => {
    const system = await startTestSystem(source, store())
    const outputs = async (handler: string) => {
      const runs = await system.store.reader.runs({
        tenant: LOCAL_TENANT,
        handler,
        status: null,
        before: null,
        limit: 9,
      })
      return Promise.all([...runs].reverse().map(async ({ id }) => (await system.look(id)).output))
    }
    const { id, runs } = await system.send({ type: 'go', data: { what: 'well' } })
    await system.settle()
    expect(await outputs('praise')).toMatchObject([
      { handler: 'work', status: 'success', output: { what: 'well' }, error: null },
    ])
    expect(await outputs('mend')).toEqual([])
    await system.send({ type: 'go', data: { what: 'fail' } })
    await system.settle()
    expect(await outputs('mend')).toMatchObject([{ status: 'failed', output: null, error: { message: 'it broke' } }])
    expect(await outputs('count')).toMatchObject([{ status: 'success' }, { status: 'failed' }])
    const [told] = await system.store.reader.events({
      tenant: LOCAL_TENANT,
      type: 'trihand.run.completed',
      before: null,
      limit: 9,
    })
    expect(told).toMatchObject({
      source: 'run:work',
      correlationId: id,
      causationId: told?.subject,
      hops: 1,
      chain: ['work'],
    })
    expect(runs).toContain(told?.subject)
    await system.close()
  })

  test('[L9] ending-1: a parked run that a person cancels has ended too, and a crash around an end changes nothing', async () => {
    const system = await startTestSystem(source, store())
    const { runs } = await system.send({ type: 'go', data: { what: 'wait' } })
    await system.settle()
    await system.crash()
    for (const run of runs)
      if ((await system.look(run)).status === 'waiting')
        await system.run(() => system.engine.cancel(run, 'ana', 'no longer needed'))
    await system.crash()
    await system.advance('2h')
    const ends = await system.store.reader.events({
      tenant: LOCAL_TENANT,
      type: 'trihand.run.cancelled',
      before: null,
      limit: 9,
    })
    expect(ends).toMatchObject([
      { data: { status: 'cancelled', error: { message: 'no longer needed' } }, chain: ['work'] },
    ])
    const mended = { tenant: LOCAL_TENANT, handler: 'mend', status: 'success', before: null, limit: 9 } as const
    expect(await system.store.reader.runs(mended)).toHaveLength(1)
    await system.close()
  })

  test('[L9] a retried run ends again, and its listeners start again', async () => {
    const system = await startTestSystem(source, store())
    await system.send({ type: 'go', data: { what: 'fail' } })
    await system.settle()
    const [failed] = await system.store.reader.runs({
      tenant: LOCAL_TENANT,
      handler: 'work',
      status: 'failed',
      before: null,
      limit: 9,
    })
    await system.run(() => system.engine.retry(failed?.id as never, 'ana'))
    await system.settle()
    const mended = { tenant: LOCAL_TENANT, handler: 'mend', status: 'success', before: null, limit: 9 } as const
    expect(await system.store.reader.runs(mended)).toHaveLength(2)
    await system.close()
  })

  test('[L9] flow control applies to ends of runs as to any event', async () => {
    const quiet = fn(
      'quiet',
      { trigger: { after: 'work', status: 'ended' }, debounce: { period: '10s' } },
      ({ input }) => input,
    )
    const system = await startTestSystem({ ...source, functions: [...source.functions.slice(0, 2), quiet] }, store())
    for (const what of ['well', 'fail', 'well']) {
      await system.send({ type: 'go', data: { what } })
      await system.advance('2s')
    }
    await system.advance('1m')
    const quieted = { tenant: LOCAL_TENANT, handler: 'quiet', status: 'success', before: null, limit: 9 } as const
    expect(await system.store.reader.runs(quieted)).toHaveLength(1)
    await system.close()
  })

  test('[L9] without a listener no such event is written', async () => {
    const system = await startTestSystem({ ...source, functions: source.functions.slice(0, 2) }, store())
    await system.send({ type: 'go', data: { what: 'well' } })
    await system.settle()
    const events = await system.store.reader.events({ tenant: LOCAL_TENANT, type: null, before: null, limit: 9 })
    expect(events.map(({ type }) => type)).toEqual(['go'])
    await system.close()
  })
})

test.each([['nobody'], ['self']])(
  '[L9] after: %s is refused, because it is not another function of the system',
  (name) => {
    const define = () =>
      normalise({ name: 'x', functions: [fn('self', { trigger: { after: name } }, () => 1)] }, (text) => text)
    expect(define).toThrow(expect.objectContaining({ code: 'MANIFEST_INVALID' }))
  },
)
