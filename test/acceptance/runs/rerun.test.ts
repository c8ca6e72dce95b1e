/** Reruns: results before a step are kept, the rest is done again, and the old run is unchanged. */
import { expect, test } from 'vitest'
import { z } from 'zod'
import { fn } from '#executors/workflow/function.ts'
import { LOCAL_TENANT, type RunId } from '#model/kernel/ids.ts'
import { ana, Inbox } from '#test/support/serving/inbox.ts'
import { onEveryStore } from '#test/support/stores/stores.ts'
import { startTestSystem, type TestSystem } from '#testing/system.ts'

type RerunOptions = { readonly from?: string; readonly input?: unknown; readonly decisions?: boolean }

const rerun = (system: TestSystem, run: RunId, intent: RerunOptions = {}): Promise<RunId> =>
  system.run(() => system.engine.reruns.rerun(run, { by: 'ana', ...intent }))

const refusal = (system: TestSystem, run: RunId, intent: RerunOptions): Promise<string> =>
  rerun(system, run, intent).then(
    () => 'nothing was refused',
    ({ code }: { code: string }) => code,
  )

const factsOf = (system: TestSystem, run: RunId) =>
  system.run(() => system.store.reader.facts(LOCAL_TENANT, run, { after: 0, limit: 100 }))

const LARGE = 'x'.repeat(100_000)

/** Three steps that record that they were done; the last charges, at most once. */
const orders = () => {
  const did: string[] = []
  const effects: string[] = []
  const order = fn('order', { trigger: 'order.placed' }, async ({ input, event, step }) => {
    const { id } = input as { id: string }
    const text = await step.run('fetch', () => {
      did.push('fetch')
      return LARGE
    })
    const total = await step.run('sum', () => {
      did.push('sum')
      return `${id}:${text.length}`
    })
    await step.run(
      'charge',
      ({ effectKey }) => {
        did.push('charge')
        effects.push(effectKey)
      },
      { effect: 'once' },
    )
    return [total, event?.type ?? null]
  })
  return { did, effects, source: { name: 'orders', events: { 'order.placed': null }, functions: [order] } }
}

onEveryStore('rerun', (store) => {
  test('results before the step are kept, large ones too; the rest is done again, with new keys', async () => {
    const { did, effects, source } = orders()
    const system = await startTestSystem(source, store())
    const { runs } = await system.send({ type: 'order.placed', data: { id: 'o-1' } })
    await system.settle()
    const [old] = runs as [RunId]
    const before = await factsOf(system, old)
    const again = await rerun(system, old, { from: 'sum' })
    await system.settle()
    expect(did).toEqual(['fetch', 'sum', 'charge', 'sum', 'charge'])
    expect(new Set(effects).size).toBe(2)
    expect(await system.look(again)).toMatchObject({ status: 'success', output: ['o-1:100000', 'order.placed'] })
    expect(await factsOf(system, old)).toEqual(before)
    await system.close()
  })

  test('with another input the new run is called with it; and a rerun can be rerun, from its own facts', async () => {
    const { did, source } = orders()
    const system = await startTestSystem(source, store())
    const { runs } = await system.send({ type: 'order.placed', data: { id: 'o-1' } })
    await system.settle()
    const changed = await rerun(system, runs[0] as RunId, { from: 'sum', input: { id: 'o-2' } })
    await system.settle()
    expect(await system.look(changed)).toMatchObject({ output: ['o-2:100000', null] })
    const third = await rerun(system, changed, { from: 'charge' })
    await system.settle()
    expect(await system.look(third)).toMatchObject({ status: 'success', output: ['o-2:100000', null] })
    expect(did).toEqual(['fetch', 'sum', 'charge', 'sum', 'charge', 'charge'])
    const whole = await rerun(system, runs[0] as RunId)
    await system.settle()
    expect(await system.look(whole)).toMatchObject({ output: ['o-1:100000', 'order.placed'] })
    expect(did.slice(6)).toEqual(['fetch', 'sum', 'charge'])
    await system.close()
  })

  test('a crash after the answer loses nothing: the next process continues with the kept results', async () => {
    const { did, source } = orders()
    const system = await startTestSystem(source, store())
    const { runs } = await system.send({ type: 'order.placed', data: { id: 'o-1' } })
    await system.settle()
    const again = await rerun(system, runs[0] as RunId, { from: 'charge' })
    await system.crash()
    await system.settle()
    expect(await system.look(again)).toMatchObject({ status: 'success', output: ['o-1:100000', 'order.placed'] })
    expect(did.filter((step) => step !== 'charge')).toEqual(['fetch', 'sum'])
    await system.close()
  })

  test('[Q9] a run with an open wait is rerun: both wait, and one event serves both', async () => {
    const did: string[] = []
    const answer = fn('answer', {}, async ({ step }) => {
      await step.run('ask', () => void did.push('ask'))
      await step.run('log', () => void did.push('log'))
      return (await step.waitForEvent('reply', { event: 'reply' })).status
    })
    const system = await startTestSystem({ name: 'wait', events: { reply: null }, functions: [answer] }, store())
    const old = await system.start('answer')
    await system.settle()
    const again = await rerun(system, old, { from: 'log' })
    const from = await rerun(system, old, { from: 'reply' })
    await system.settle()
    await system.crash()
    await system.send({ type: 'reply', data: {} })
    await system.settle()
    for (const run of [old, again, from])
      expect(await system.look(run)).toMatchObject({ status: 'success', output: 'received' })
    expect(did).toEqual(['ask', 'log', 'log'])
    await system.close()
  })

  test('a wait that has its event is answered with it; one that is done again waits for another', async () => {
    const answer = fn('answer', {}, async ({ step }) => {
      const { event } = await step.waitForEvent('reply', { event: 'reply' })
      return step.run('read', () => event?.data ?? null)
    })
    const system = await startTestSystem({ name: 'wait', events: { reply: null }, functions: [answer] }, store())
    const old = await system.start('answer')
    await system.send({ type: 'reply', data: { n: 1 } })
    await system.settle()
    const [kept, anew] = [await rerun(system, old, { from: 'read' }), await rerun(system, old, { from: 'reply' })]
    await system.settle()
    expect([(await system.look(kept)).output, (await system.look(anew)).status]).toEqual([{ n: 1 }, 'waiting'])
    await system.send({ type: 'reply', data: { n: 2 } })
    await system.settle()
    expect((await system.look(anew)).output).toEqual({ n: 2 })
    await system.close()
  })

  test('a child is called again only if its step is done again', async () => {
    const called: number[] = []
    const child = fn('child', {}, () => called.push(called.length))
    const parent = fn('parent', {}, async ({ step }) => {
      const n = await step.invoke('call', 'child')
      return [n, await step.run('after', () => 'ok')]
    })
    const system = await startTestSystem({ name: 'family', functions: [child, parent] }, store())
    const old = await system.start('parent')
    await system.settle()
    const kept = await rerun(system, old, { from: 'after' })
    await system.settle()
    expect([(await system.look(kept)).output, called.length]).toEqual([[1, 'ok'], 1])
    const anew = await rerun(system, old, { from: 'call' })
    await system.settle()
    expect([(await system.look(anew)).output, called.length]).toEqual([[2, 'ok'], 2])
    await system.close()
  })

  test('a gate that knows the key, and is paused as well, does not turn a rerun away; slots count', async () => {
    let [now, most] = [0, 0]
    const work = fn(
      'work',
      { trigger: 'job', idempotency: { key: 'payload.id' }, concurrency: [{ limit: 1 }] },
      async ({ step }) => {
        most = Math.max(most, ++now)
        await step.run('one', () => Promise.resolve())
        now--
        return step.run('two', () => 'ok')
      },
    )
    const system = await startTestSystem({ name: 'gated', events: { job: null }, functions: [work] }, store())
    await system.send({ type: 'job', data: { id: 1 } })
    await system.settle()
    const query = { tenant: LOCAL_TENANT, status: null, handler: 'work', before: null, limit: 10 } as const
    const [old] = await system.run(() => system.store.reader.runs(query))
    await system.run(() => system.engine.pauseHandler('work', 'ana'))
    const again = await Promise.all([0, 1, 2].map(() => rerun(system, (old as { id: RunId }).id, { from: 'one' })))
    await system.settle()
    for (const run of again) expect(await system.look(run)).toMatchObject({ status: 'success', output: 'ok' })
    expect(most).toBe(1)
    await system.close()
  })

  test('kept-decision-1: a decision is reused if requested and the question is the same; else people are asked', async () => {
    let text = 'first'
    const review = fn('review', {}, async ({ step }) => {
      const question = { title: 'Publish?', instructions: text, assign: 'ana' }
      const asked = step.human('approve', question)
      await step.sleep('nap', '1m')
      await step.run('prepare', () => null)
      const { decision, feedback } = await asked
      return [decision, feedback]
    })
    const system = await startTestSystem({ name: 'review', functions: [review] }, store())
    const inbox = new Inbox(system)
    const old = await system.start('review')
    await system.settle()
    await system.advance('2m')
    await inbox.decide(await inbox.only(), ana, { action: 'approve', reason: 'fine' })
    await system.settle()
    const same = await rerun(system, old, { from: 'prepare', decisions: true })
    await system.settle()
    expect(await system.look(same)).toMatchObject({ status: 'success' })
    expect([(await system.look(same)).output, await inbox.list()]).toEqual([['approve', 'fine'], []])
    const unasked = await rerun(system, old, { from: 'prepare' })
    await system.settle()
    expect((await system.look(unasked)).status).toBe('waiting')
    text = 'second'
    const other = await rerun(system, old, { from: 'prepare', decisions: true })
    await system.settle()
    expect([(await system.look(other)).status, (await inbox.list()).length]).toEqual(['waiting', 2])
    await system.close()
  })

  test('an unknown step, an active run, a misfit input and a missing function are refused, and nothing begins', async () => {
    const gate = { open: (): void => {} }
    const slow = fn('slow', { input: z.object({ n: z.number() }) }, ({ step }) =>
      step.run('hold', () => new Promise<void>((resolve) => (gate.open = resolve))),
    )
    const system = await startTestSystem({ name: 'slow', functions: [slow] }, store())
    const run = await system.start('slow', { n: 1 })
    await system.settle()
    expect(await refusal(system, run, {})).toBe('RUN_AT_WORK')
    gate.open()
    await system.settle()
    expect(await refusal(system, run, { from: 'holt' })).toBe('STEP_NOT_REACHED')
    expect(await refusal(system, run, { input: {} })).toBe('INPUT_INVALID')
    expect(await refusal(system, `run_${'0'.repeat(32)}` as RunId, {})).toBe('NOT_FOUND')
    await system.crash({ name: 'slow', functions: [] })
    expect(await refusal(system, run, {})).toBe('NOT_FOUND')
    await system.close()
  })

  test('a preview shows what is kept and what would be done again, and writes nothing', async () => {
    const { source } = orders()
    const system = await startTestSystem(source, store())
    const { runs } = await system.send({ type: 'order.placed', data: { id: 'o-1' } })
    await system.settle()
    expect(await system.run(() => system.engine.reruns.preview(runs[0] as RunId, 'sum'))).toEqual({
      handler: 'order',
      input: { id: 'o-1' },
      reused: ['fetch'],
      again: [
        { step: 'sum', once: false, asks: false, reusable: false },
        { step: 'charge', once: true, asks: false, reusable: false },
      ],
    })
    await system.close()
  })
})
