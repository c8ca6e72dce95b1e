/** Many callers of one task, run, queue, plan or entity at once: each waits for its turn, none is refused because of the others. */
import { expect, test, vi } from 'vitest'
import { openPlans } from '#compose/plans.ts'
import { fn } from '#executors/workflow/function.ts'
import type { SystemSource } from '#manifest/define/define.ts'
import { human } from '#manifest/human/humans.ts'
import type { RunId } from '#model/kernel/ids.ts'
import { Inbox, person } from '#test/support/serving/inbox.ts'
import { onEveryStore } from '#test/support/stores/stores.ts'
import { startTestSystem, type TestSystem } from '#testing/system.ts'

const CROWD = 150

const crowd = <T>(system: TestSystem, call: (n: number) => Promise<T>, size = CROWD): Promise<readonly T[]> =>
  system.run(() => Promise.all(Array.from({ length: size }, (_, n) => call(n))))

const refusals = async (system: TestSystem, call: (n: number) => Promise<unknown>): Promise<readonly string[]> => {
  const codes = await crowd(system, (n) =>
    call(n).then(
      () => null,
      (error: { code: string }) => error.code,
    ),
  )
  return codes.flatMap((code) => code ?? [])
}

const asking: SystemSource = {
  name: 'crowds',
  events: { 'page.ready': null, 'go.now': null },
  humans: [
    human('sign', {
      trigger: 'page.ready',
      assign: { groups: ['editors'] },
      title: 'Publish?',
      actions: ['approve'],
    }),
  ],
  functions: [fn('wait', {}, ({ step }) => step.waitForEvent('go', { event: 'go.now' }))],
}

/** The one task, and the run that asked. */
const ask = async (system: TestSystem) => {
  const { runs } = await system.send({ type: 'page.ready', data: {} })
  await system.settle()
  return { task: await new Inbox(system).only(), run: runs[0] as RunId }
}

/** Runs that do one thing once, and write it to the session that all of them share. */
const remembering = (bodies: number[]): SystemSource => ({
  name: 'remembering',
  functions: [
    fn<{ n: number }>('note', {}, async ({ input, step }) => {
      await step.run(
        'pay',
        ({ remember }) => {
          bodies.push(input.n)
          remember(`k${input.n}`, input.n)
        },
        { effect: 'once' },
      )
      return step.run('again', ({ remember }) => remember('last', input.n))
    }),
  ],
})

onEveryStore('crowds', (store) => {
  test.each([30, CROWD])(
    '[G3] session-writes-2: %i runs that write one session at once each do their work once and ask no person (14.2)',
    async (size) => {
      const bodies: number[] = []
      const system = await startTestSystem(remembering(bodies), store())
      const { sessions } = system.engine
      const session = await system.run(() => sessions.create())
      const runs = await crowd(system, (n) => system.engine.startRun('note', { n }, { session }), size)
      await system.settle()
      await system.advance('1h')
      expect(await new Inbox(system).list()).toEqual([])
      expect([...bodies].sort((a, b) => a - b)).toEqual(Array.from({ length: size }, (_, n) => n))
      const ends = await Promise.all(runs.map((run) => system.look(run)))
      expect(new Set(ends.map(({ status }) => status))).toEqual(new Set(['success']))
      const memory = await system.run(() => sessions.memory(session))
      expect(memory?.size).toBe(size + 1)
      await system.close()
    },
  )

  test('[G3] session-writes-1: many concurrent changes of one session from outside are all made, with few appends (14.2)', async () => {
    const system = await startTestSystem(asking, store())
    const { sessions } = system.engine
    const session = await system.run(() => sessions.create())
    const append = vi.spyOn(system.store.ledger, 'append')
    expect(await refusals(system, (n) => sessions.remember(session, `k${n % 7}`, n))).toEqual([])
    expect(append.mock.calls.length).toBeLessThan(CROWD / 5)
    append.mockRestore()
    const memory = await system.run(() => sessions.memory(session))
    expect([...(memory?.values() ?? [])].sort()).toEqual(Array.from({ length: 7 }, (_, n) => CROWD - 7 + n).sort())
    await system.close()
  })

  test('session-writes-3: a session with many writes is loaded from its tail (14.2)', async () => {
    const system = await startTestSystem(asking, store())
    const { sessions } = system.engine
    const session = await system.run(() => sessions.create())
    await crowd(system, (n) => sessions.remember(session, 'same', n))
    const load = vi.spyOn(system.store.ledger, 'load')
    expect(await system.run(() => sessions.recall(session, 'same'))).toBe(CROWD - 1)
    expect(load.mock.calls).toEqual([[[session], { last: 64 }]])
    load.mockRestore()
    await system.close()
  })

  test('[C17] task-command-2: many concurrent drafts of one task are all saved, in the order in which they came (14.2)', async () => {
    const system = await startTestSystem(asking, store())
    const { task } = await ask(system)
    const { tasks } = system.engine
    const revisions = await crowd(system, (n) =>
      tasks.saveDraft(task, person(`p${n % 50}`, 'editors'), { item: null, content: { n } }),
    )
    expect(revisions.map(({ isRepeated }) => isRepeated)).not.toContain(true)
    const { state } = await system.run(() => tasks.show(task))
    const drafts = state.kind === 'open' ? state.drafts : []
    expect(drafts.map(({ content }) => (content as { n: number }).n)).toEqual(
      Array.from({ length: 50 }, (_, i) => CROWD - 50 + i),
    )
    await system.close()
  })

  test('[C17] task-command-1: of many who decide between the drafts of others one finds the task open (14.2)', async () => {
    const system = await startTestSystem(asking, store())
    const { task, run } = await ask(system)
    const { tasks } = system.engine
    const shown = await system.run(() => tasks.show(task))
    const shownHash = shown.state.kind === 'open' ? shown.state.hash : ''
    const codes = await refusals(system, (n) => {
      const by = person(`p${n}`, 'editors')
      return n % 3 === 2
        ? tasks.submit(task, by, { action: 'approve', shownHash })
        : tasks.saveDraft(task, by, { item: null, content: { n } })
    })
    expect(new Set(codes)).toEqual(new Set(['TASK_CLOSED']))
    expect(codes).toHaveLength(CROWD - 3)
    await system.settle()
    expect(await system.look(run)).toMatchObject({ status: 'success', output: { decided_by: 'p2' } })
    await system.close()
  })

  test('[B7] outside-2: many concurrent commands to one run are all applied (14.2)', async () => {
    const system = await startTestSystem(asking, store())
    const run = await system.start('wait')
    await system.settle()
    const { engine } = system
    const codes = await refusals(system, (n) =>
      n % 2 === 0 ? engine.pause(run, `p${n}`, null) : engine.resume(run, `p${n}`),
    )
    expect(codes).toEqual([])
    await system.send({ type: 'go.now', data: {} })
    await system.settle()
    expect(await system.look(run)).toMatchObject({ status: 'success' })
    await system.close()
  })

  test('[N3] plans-1: many concurrent approvals of one plan are all accepted (14.2)', async () => {
    const place = store()
    const system = await startTestSystem({ name: 'plans', functions: [fn('send-emails', {}, () => 1)] }, place)
    const plans = openPlans(system.engine, system.store.reader, { ids: place.ids(), clock: system.clock })
    const draft = await system.run(() => plans.propose({ text: 'a. Send emails' }, 'bo'))
    const codes = await refusals(system, (n) =>
      plans.approve(draft.id, draft.current.hash, { id: `p${n}`, kind: 'user' }),
    )
    expect(codes).toEqual([])
    await system.close()
  })

  test('[A9] queues-3: many concurrent puts into one queue are all accepted, and each message is processed once (14.2)', async () => {
    const seen: number[] = []
    const source: SystemSource = {
      name: 'puts',
      queues: [{ name: 'mails', maxLength: CROWD }],
      functions: [
        fn('mail', { source: { queue: 'mails', batch: 100 } }, ({ input }) => {
          for (const { n } of input as unknown as { n: number }[]) seen.push(n)
        }),
      ],
    }
    const system = await startTestSystem(source, store())
    const codes = await refusals(system, (n) => system.engine.queues.put('mails', { n }))
    await system.settle()
    expect(codes).toEqual([])
    expect([...seen].sort((a, b) => a - b)).toEqual(Array.from({ length: CROWD }, (_, n) => n))
    await system.close()
  })
})
