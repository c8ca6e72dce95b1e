/** Time and concurrency around a task: reminders, deadlines, levels, decisions that race with each other and with the clock. */
import { expect, test } from 'vitest'
import { joinEngine } from '#compose/assemble.ts'
import { fn } from '#executors/workflow/function.ts'
import { normalise } from '#manifest/define/define.ts'
import { type HumanOptions, human } from '#manifest/human/humans.ts'
import { ana, bob, cfo, Inbox, person } from '#test/support/serving/inbox.ts'
import { onEveryStore } from '#test/support/stores/stores.ts'
import { startTestSystem, type TestStore, type TestSystem } from '#testing/system.ts'

const asking = (options: HumanOptions) => ({
  name: 'asking',
  events: { asked: null },
  humans: [human('approve-it', { trigger: 'asked', assign: 'group:editors', ...options })],
})

const begin = async (place: TestStore, options: HumanOptions): Promise<{ system: TestSystem; inbox: Inbox }> => {
  const system = await startTestSystem(asking(options), place)
  await system.send({ type: 'asked', data: {} })
  await system.settle()
  return { system, inbox: new Inbox(system) }
}

onEveryStore('humans in time', (store) => {
  test('[C12] reminders are sent before the deadline, each once; after downtime only the latest; none after the close', async () => {
    const { system, inbox } = await begin(store(), { deadline: '48h', reminders: ['24h', '8h', '4h', '1h'] })
    const task = await inbox.only()
    await system.advance('23h')
    expect(await inbox.told('human.reminded')).toEqual([])
    await system.advance('1h')
    expect(await inbox.told('human.reminded')).toMatchObject([{ n: 1, level: 0 }])
    await system.crash(undefined, { down: '20h' })
    await system.settle()
    expect(await inbox.told('human.reminded')).toMatchObject([{ n: 1 }, { n: 3 }])
    await inbox.decide(task, ana, { action: 'approve' })
    await system.advance('3d')
    expect(await inbox.told('human.reminded')).toHaveLength(2)
    expect(await inbox.told('human.timed_out')).toEqual([])
    await system.close()
  })

  test('[C11] a deadline without an action is reported once, and the task stays open', async () => {
    const { system, inbox } = await begin(store(), { deadline: '2h' })
    const task = await inbox.only()
    await system.advance('3d')
    expect(await inbox.told('human.timed_out')).toMatchObject([{ task_id: task, level: 0 }])
    expect(await inbox.row(task)).toMatchObject({ isOpen: true, summary: { timedOut: true } })
    await inbox.decide(task, ana, { action: 'approve' })
    await system.close()
  })

  test.each([
    ['approve', 'approved'],
    ['reject', 'rejected'],
    ['expire', 'expired'],
  ])('[C11] %s at the deadline is done by the system, and the run continues', async (autoActionOnTimeout, status) => {
    const { system, inbox } = await begin(store(), { deadline: '2h', autoActionOnTimeout })
    const task = await inbox.only()
    await system.advance('2h')
    await system.settle()
    expect(await inbox.row(task)).toMatchObject({ isOpen: false, status })
    const [run] = await system.run(() =>
      system.store.reader.runs({ tenant: 'local' as never, status: null, handler: null, before: null, limit: 1 }),
    )
    if (run === undefined) throw new Error('there is a run')
    expect(await system.look(run.id)).toMatchObject({ status: 'success', output: { status } })
    await system.close()
  })

  test('[C8][C11] a deadline escalates to the next level, with its own deadline; the last level stays', async () => {
    const { system, inbox } = await begin(store(), {
      deadline: '2h',
      escalation: [{ to: 'group:leads', deadline: '1h' }],
    })
    const task = await inbox.only()
    expect(await inbox.of(cfo)).toEqual([])
    await system.advance('2h')
    await system.settle()
    expect(await inbox.of(cfo)).toMatchObject([{ id: task, status: 'pending' }])
    expect(await inbox.of(ana)).toEqual([])
    await system.advance('5h')
    expect(await inbox.told('human.timed_out')).toMatchObject([{ level: 0 }, { level: 1 }])
    expect(await inbox.told('human.assigned')).toMatchObject([{}, { assignees: { groups: ['leads'] }, level: 1 }])
    await inbox.decide(task, cfo, { action: 'approve' })
    await system.close()
  })

  test('[C8] a person escalates with a reason, until there is no higher level', async () => {
    const { system, inbox } = await begin(store(), { escalation: [{ to: 'user:cfo' }] })
    const task = await inbox.only()
    await expect(inbox.decide(task, ana, { action: 'escalate' })).rejects.toMatchObject({ code: 'REASON_REQUIRED' })
    await inbox.decide(task, ana, { action: 'escalate', reason: 'above my head' })
    expect(await inbox.of(cfo)).toMatchObject([{ id: task, summary: { escalationReason: 'above my head', level: 1 } }])
    await expect(inbox.decide(task, cfo, { action: 'escalate', reason: 'again' })).rejects.toMatchObject({
      code: 'ESCALATION_EXHAUSTED',
    })
    await system.close()
  })

  test('[C11] with a decision at the very instant of the deadline, exactly one of the two closes the task', async () => {
    const winners = new Set<string>()
    for (const isFirst of [true, false]) {
      const { system, inbox } = await begin(store(), { deadline: '2h', autoActionOnTimeout: 'reject' })
      const task = await inbox.only()
      const shownHash = await inbox.hash(task)
      const decide = () => system.engine.tasks.submit(task, ana, { action: 'approve', shownHash }).catch(() => null)
      await system.advance(2 * 3_600_000 - 1)
      // Whether the decision comes before the clock reaches the instant or exactly then.
      const early = isFirst ? decide() : null
      await system.advance(1)
      await system.settle()
      if (early === null) await system.run(decide)
      else await system.run(() => early)
      await system.settle()
      const ends = (await inbox.story(task)).filter((type) => type === 'task.decided')
      expect(ends).toHaveLength(1)
      expect(await inbox.told('human.decided')).toHaveLength(1)
      winners.add((await inbox.row(task))?.status ?? '')
      await system.close()
    }
    expect(winners).toEqual(new Set(['approved', 'rejected']))
  })

  test('[C5] task-command-1: of fifty people who decide at once on two engines one wins, and the others learn who', async () => {
    const place = store()
    const { system, inbox } = await begin(place, {})
    const task = await inbox.only()
    const shownHash = await inbox.hash(task)
    const ids = place.ids()
    const source = normalise(asking({}), (text) => ids.digest(text))
    const other = joinEngine(system.store, source, ids, system.clock, {})
    const outcomes = await system.run(() =>
      Promise.allSettled(
        Array.from({ length: 50 }, (_, i) =>
          (i % 2 === 0 ? system.engine : other).tasks.submit(task, person(`p${i}`, 'editors'), {
            action: i % 3 === 0 ? 'reject' : 'approve',
            reason: `says ${i}`,
            shownHash,
          }),
        ),
      ),
    )
    const lost = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? outcome.reason : []))
    expect(lost).toHaveLength(49)
    const winner = (await inbox.row(task))?.summary as { readonly decidedBy: string }
    for (const error of lost) expect(error).toMatchObject({ code: 'TASK_CLOSED', status: 409 })
    for (const error of lost) expect(error.detail).toContain(winner.decidedBy)
    await system.settle()
    expect(await inbox.told('human.decided')).toHaveLength(1)
    await system.close()
  })

  test('[C1] task-append-2: an answer given while no worker was active acts once, however often the process dies', async () => {
    let sent = 0
    const source = {
      name: 'mail',
      functions: [
        fn('mail', {}, async ({ step }) => {
          const { decision } = await step.human('ask', { assign: 'group:editors' })
          return step.run('send', () => `${decision} ${++sent}`)
        }),
      ],
    }
    const place = store()
    const system = await startTestSystem(source, place)
    const inbox = new Inbox(system)
    const run = await system.start('mail')
    await system.settle()
    const task = await inbox.only()
    const shownHash = await inbox.hash(task)
    const ids = place.ids()
    // A process that only accepts decisions and performs no work.
    const desk = joinEngine(
      system.store,
      normalise(source, (text) => ids.digest(text)),
      ids,
      system.clock,
      {},
    )
    await system.run(() => desk.tasks.submit(task, bob, { action: 'approve', shownHash }))
    await system.crash()
    await system.crash()
    await system.settle()
    expect(await system.look(run)).toMatchObject({ status: 'success', output: 'approve 1' })
    await expect(inbox.decide(task, ana, { action: 'approve' })).rejects.toMatchObject({ code: 'TASK_CLOSED' })
    expect(sent).toBe(1)
    await system.close()
  })

  test('[C5] a task that has changed since it was shown cannot be decided', async () => {
    const { system, inbox } = await begin(store(), {})
    const task = await inbox.only()
    await expect(inbox.decide(task, ana, { action: 'approve', shownHash: 'another' })).rejects.toMatchObject({
      code: 'STALE_VIEW',
    })
    await expect(inbox.decide(task, ana, { action: 'approve', shownHash: null })).rejects.toMatchObject({
      code: 'STALE_VIEW',
    })
    await system.close()
  })

  test('[C1] a cancel withdraws the question, and a retry asks again', async () => {
    const { system, inbox } = await begin(store(), {})
    const task = await inbox.only()
    const { run } = (await inbox.row(task)) ?? {}
    if (run === undefined) throw new Error('the task has a run')
    await system.run(() => system.engine.cancel(run, 'bob', 'not needed'))
    await system.settle()
    expect(await system.look(run)).toMatchObject({ status: 'cancelled' })
    expect(await inbox.row(task)).toMatchObject({ status: 'withdrawn', isOpen: false })
    expect(await inbox.told('human.withdrawn')).toHaveLength(1)
    await system.run(() => system.engine.retry(run, 'bob'))
    await system.settle()
    const again = await inbox.only()
    expect(again).not.toBe(task)
    await inbox.decide(again, ana, { action: 'approve' })
    await system.settle()
    expect(await system.look(run)).toMatchObject({ status: 'success' })
    await system.close()
  })
})
