/** A requester may not decide: the requester is passed along the chain of causes, from the credential that began it (issue 14.5). */
import { expect, test } from 'vitest'
import { type FunctionOptions, fn } from '#executors/workflow/function.ts'
import { human } from '#manifest/human/humans.ts'
import type { RunId } from '#model/kernel/ids.ts'
import type { Json } from '#model/kernel/json.ts'
import { ana, bob, Inbox, robot } from '#test/support/serving/inbox.ts'
import { onEveryStore } from '#test/support/stores/stores.ts'
import { startTestSystem, type TestSystem } from '#testing/system.ts'

const approve = { action: 'approve' } as const
const release = human('release', { triggers: ['wanted', 'passed'], assign: 'group:editors', separation: 'requester' })
const asking = (options: Partial<FunctionOptions<Json>> = {}) =>
  fn('ask', { ...options }, async ({ step }) => {
    const { decidedBy } = await step.human('release', { assign: 'group:editors', separation: 'requester' })
    return decidedBy
  })

onEveryStore('the requester', (store) => {
  const begin = (more: Partial<Parameters<typeof startTestSystem>[0]> = {}): Promise<TestSystem> =>
    startTestSystem({ name: 'four-eyes', events: { wanted: null, passed: null }, humans: [release], ...more }, store())

  /** Ana is the requester: she may not decide the one open task, and bob may. */
  const expectExcluded = async (system: TestSystem): Promise<void> => {
    await system.settle()
    const inbox = new Inbox(system)
    const task = await inbox.only()
    expect((await inbox.row(task))?.summary).toMatchObject({ requester: 'ana' })
    await expect(inbox.decide(task, ana, approve)).rejects.toThrow('SEPARATION_OF_DUTIES')
    await inbox.decide(task, bob, approve)
    expect(await inbox.row(task)).toMatchObject({ isOpen: false, status: 'approved' })
    await system.settle()
    await system.close()
  }

  test('[C5] requester-1: the sender of an event may not decide the task that it opens, whatever its data says (14.5)', async () => {
    const system = await begin()
    await system.send({ type: 'wanted', data: { requester: 'bob' } }, { by: ana })
    await expectExcluded(system)
  })

  test('[C5] requester-1: the person who starts a function may not decide the tasks of its steps (14.5)', async () => {
    const system = await begin({ functions: [asking()] })
    await system.start('ask', {}, { by: ana })
    await expectExcluded(system)
  })

  test.each<readonly [string, Partial<FunctionOptions<Json>>]>([
    ['concurrency', { concurrency: [{ limit: 1 }] }],
    ['a throttle', { throttle: { limit: 1, period: '1m' } }],
    ['a debounce', { debounce: { period: '1s' } }],
    ['idempotency', { idempotency: { key: 'payload.id', ttl: '1d' } }],
  ])('[C5] requester-1: the requester is passed through %s, with a call and with an event (14.5)', async (_, flow) => {
    const called = await begin({ functions: [asking(flow)] })
    await called.start('ask', { id: 1 }, { by: ana })
    await called.advance('2s')
    await expectExcluded(called)
    const sent = await begin({ humans: [], functions: [asking({ trigger: 'wanted', ...flow })] })
    await sent.send({ type: 'wanted', data: { id: 1 } }, { by: ana })
    await sent.advance('2s')
    await expectExcluded(sent)
  })

  test.each([
    ['a function', { function: 'ask' }, {}],
    [
      'a function behind a gate',
      { function: 'ask' },
      { concurrency: [{ limit: 1 }], idempotency: { key: 'payload.id' } },
    ],
    ['an event', { emit: 'wanted' }, {}],
  ] as const)(
    '[C5] requester-1: the person who runs a schedule of %s now may not decide its tasks, also if the run waited (14.5)',
    async (_, target, flow) => {
      const schedules = [
        { name: 'monthly', cron: '0 0 1 * *', overlap: 'buffer_all', input: { id: 1 }, ...target },
      ] as const
      const system = await begin({ functions: [asking(flow)], schedules, ...('emit' in target ? {} : { humans: [] }) })
      await system.run(() => system.engine.schedules.pause('monthly', { by: 'bob' }))
      await system.run(() => system.engine.schedules.runNow('monthly', { by: 'ana' }))
      await system.settle()
      await system.crash()
      await expectExcluded(system)
    },
  )

  test('[C5] requester-1: the requester is passed through events, children, delays and a crash (14.5)', async () => {
    const pass = fn('pass', {}, ({ step }) => step.emit('say', { type: 'passed', data: {}, delay: '1m' }))
    const parent = fn('parent', { trigger: 'wanted' }, ({ step }) => step.invoke('child', 'pass', {}))
    const late = human('late', { triggers: ['passed'], assign: 'group:editors', separation: 'requester' })
    const system = await begin({ humans: [late], functions: [pass, parent] })
    await system.send({ type: 'wanted', data: {} }, { by: ana })
    await system.settle()
    await system.crash()
    await system.advance('2m')
    await expectExcluded(system)
  })

  test('[C5] requester-1: the requester of the chain stays excluded after another person has decided a step of it (14.5)', async () => {
    const first = human('first', {
      trigger: 'wanted',
      assign: 'group:editors',
      actions: [{ name: 'approve', emits: 'passed' }],
    })
    const second = human('second', { triggers: ['passed'], assign: 'group:editors', separation: 'requester' })
    const system = await begin({ humans: [first, second] })
    await system.send({ type: 'wanted', data: {} }, { by: ana })
    await system.settle()
    const inbox = new Inbox(system)
    await inbox.decide(await inbox.only(), bob, approve)
    await expectExcluded(system)
  })

  test('[C5] requester-1: of a batch, every sender is excluded (14.5)', async () => {
    const system = await begin({
      humans: [],
      functions: [asking({ trigger: 'wanted', batch: { maxSize: 2, maxWait: '1m' } })],
    })
    const cleo = { ...ana, id: 'cleo' }
    await system.send({ type: 'wanted', data: {} }, { by: ana })
    await system.send({ type: 'wanted', data: {} }, { by: bob })
    await system.advance('1m')
    const inbox = new Inbox(system)
    const task = await inbox.only()
    for (const who of [ana, bob]) await expect(inbox.decide(task, who, approve)).rejects.toThrow('SEPARATION_OF_DUTIES')
    await inbox.decide(task, cleo, approve)
    await system.close()
  })

  test('[C5] requester-1: a rerun has the requester of the first run, and with another input the person who changed it (14.5)', async () => {
    const system = await begin({ functions: [asking()] })
    const inbox = new Inbox(system)
    const run = await system.start('ask', { n: 1 }, { by: ana })
    await system.settle()
    await inbox.decide(await inbox.only(), bob, approve)
    await system.settle()
    const again = async (intent: { readonly input?: Json }): Promise<string> => {
      await system.run(() => system.engine.reruns.rerun(run, { ...intent, by: 'bob' }))
      await system.settle()
      const task = await inbox.only()
      const row = await inbox.row(task)
      const { requester = '' } = (row?.summary ?? {}) as { readonly requester?: string }
      await inbox.decide(task, requester === 'ana' ? bob : ana, approve)
      await system.settle()
      return requester
    }
    expect([await again({}), await again({ input: { n: 2 } })]).toEqual(['ana', 'bob'])
    await system.close()
  })

  test('[C5] requester-1: if no person sent the event, the declared field names the requester (14.5)', async () => {
    for (const data of [{ requester: 'ana' }, { requested_by: 'ana' }]) {
      const system = await begin()
      await system.send({ type: 'wanted', data }, { by: robot })
      await expectExcluded(system)
    }
    const coded = fn('coded', {}, async ({ step }) => {
      await step.human('release', { assign: 'group:editors', separation: 'requester' }, { requester: 'ana' })
    })
    const system = await begin({ functions: [coded] })
    await system.start('coded', {})
    await expectExcluded(system)
  })

  test('[C5] requester-1: if neither is known, no task is opened, and the run fails with REQUESTER_UNKNOWN (14.5)', async () => {
    const system = await begin({ functions: [asking({ retry: { maxAttempts: 1 } })] })
    const runs: RunId[] = [
      ...(await system.send({ type: 'wanted', data: {} })).runs,
      ...(await system.send({ type: 'wanted', data: { requester: '' } }, { by: robot })).runs,
      await system.start('ask', {}),
    ]
    await system.settle()
    for (const run of runs)
      expect(await system.look(run)).toMatchObject({ status: 'failed', error: { code: 'REQUESTER_UNKNOWN' } })
    expect(await new Inbox(system).list()).toEqual([])
    await system.close()
  })
})
