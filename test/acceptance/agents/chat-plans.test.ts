/** Plans in a chat: proposed by its agent, approved by a person by their hash, run once; also declared plans. */
import { expect, test } from 'vitest'
import { openPlans } from '#compose/plans.ts'
import { fn } from '#executors/workflow/function.ts'
import type { PlanId, RunId } from '#model/kernel/ids.ts'
import type { Plans } from '#planner/plans.ts'
import { agentPlace, beginAgents } from '#test/support/agents/agent-system.ts'
import { chatsIn, chatWorld, decider, sendTo, turnIs } from '#test/support/agents/chat.ts'
import { Inbox, person } from '#test/support/serving/inbox.ts'
import { onEveryStore } from '#test/support/stores/stores.ts'

const place = agentPlace()
const ana = person('ana', 'operators')

onEveryStore('plans in a chat', (store) => {
  const begin = async () => {
    const world = chatWorld()
    const at = store()
    const system = await beginAgents(world.source, at, place, decider())
    const say = (text: string) => sendTo(system, chatsIn(system, at), text)
    const is = (run: RunId, status: string) => turnIs(system, chatsIn(system, at), run, status)
    const saved = async () => (await system.run(() => chatsIn(system, at).show('c1'))).messages.at(-1)?.parts
    const ask = <T>(work: (plans: Plans) => Promise<T>): Promise<T> =>
      system.run(() => work(openPlans(system.engine, system.store.reader, { ids: at.ids(), clock: system.clock })))
    const decide = async (action: 'approve' | 'reject') => {
      const inbox = new Inbox(system)
      await inbox.decide(await inbox.only(), ana, { action, ...(action === 'reject' ? { reason: 'not today' } : {}) })
    }
    return { ...world, system, say, is, saved, ask, decide }
  }

  const planIn = async ({ is }: Awaited<ReturnType<typeof begin>>, run: RunId) => {
    const { execution } = await is(run, 'waiting')
    if (execution?.plan?.id == null) throw new Error('the turn proposes a plan')
    return { ...execution.plan, id: execution.plan.id as PlanId }
  }

  test('[N3][E10] a plan is a draft and a task until a person approves it, and is executed once, days and a crash later', async () => {
    const chat = await begin()
    const run = await chat.say('make a plan')
    const plan = await planIn(chat, run)
    expect(plan).toMatchObject({
      goal: 'Add, then mail',
      problems: [],
      steps: [
        { id: 'a', by: 'add', hand: 'workflow' },
        { id: 'b', by: 'mail', requires: ['a'] },
      ],
    })
    expect(await chat.ask((plans) => plans.show(plan.id))).toMatchObject({ createdBy: 'chat help', approvals: [] })
    await chat.system.advance('3d')
    await chat.system.crash()
    expect(chat.mails).toEqual([])
    await chat.decide('approve')
    const { execution } = await chat.is(run, 'done')
    expect(execution).toMatchObject({ state: 'done', output: { steps: { b: { status: 'success' } } } })
    expect(chat.mails).toHaveLength(1)
    expect(await chat.ask((plans) => plans.show(plan.id))).toMatchObject({
      approvals: [{ by: 'ana', hash: plan.hash }],
    })
    expect(await chat.ask((plans) => plans.runs(plan.id))).toMatchObject([{ id: execution?.run, status: 'success' }])
    expect(await chat.saved()).toMatchObject([
      { type: 'text' },
      { type: 'plan', plan: { id: plan.id, hash: plan.hash } },
      { type: 'execution', state: 'done' },
    ])
    await chat.system.close()
  })

  test('a plan that a person discards, or that was revised meanwhile, is not run', async () => {
    const chat = await begin()
    const first = await chat.say('make a plan')
    await planIn(chat, first)
    await chat.decide('reject')
    expect((await chat.is(first, 'done')).execution).toMatchObject({ state: 'denied', detail: 'not today' })
    const second = await chat.say('make another plan')
    const { id } = await planIn(chat, second)
    await chat.ask((plans) => plans.revise(id, { text: 'a. Add' }, { by: 'ana', version: 1 }))
    await chat.decide('approve')
    expect((await chat.is(second, 'done')).execution).toMatchObject({
      state: 'failed',
      detail: expect.stringContaining('PLAN_STALE'),
    })
    expect(chat.mails).toEqual([])
    await chat.system.close()
  })

  test('a plan with errors is shown with its lines, and no approval is requested', async () => {
    const chat = await begin()
    const { execution } = await chat.is(await chat.say('make a wrong plan'), 'done')
    expect(execution).toMatchObject({
      state: 'failed',
      detail: expect.stringContaining('line 2: no handler in this system'),
    })
    expect(await new Inbox(chat.system).of(ana)).toEqual([])
    await chat.system.close()
  })

  test('[N3] a declared plan that a deployment changed after it was shown is not run by the old approval (13.1.3)', async () => {
    const chat = await begin()
    const run = await chat.say('the usual')
    await chat.is(run, 'waiting')
    const text = 'a. Mail'
    const functions = (chat.source.functions ?? []).map((one) =>
      one.name === 'usual' ? fn('usual', { plan: { goal: 'What we always do', approve: 'auto', text } }) : one,
    )
    await chat.system.crash({ ...chat.source, functions })
    await chat.decide('approve')
    expect((await chat.is(run, 'done')).execution).toMatchObject({
      state: 'failed',
      detail: expect.stringContaining('PLAN_STALE'),
    })
    expect(chat.mails).toEqual([])
    await chat.system.close()
  })

  test('a declared plan shows its steps too, and its input can be edited', async () => {
    const chat = await begin()
    const run = await chat.say('the usual')
    expect((await chat.is(run, 'waiting')).execution).toMatchObject({
      executor: 'usual',
      plan: { id: null, goal: 'What we always do', steps: [{ id: 'a' }, { id: 'b' }] },
    })
    await chat.decide('approve')
    expect((await chat.is(run, 'done')).execution).toMatchObject({
      state: 'done',
      output: { steps: { a: { output: { sum: 3 } } } },
    })
    expect(chat.mails).toHaveLength(1)
    await chat.system.close()
  })
})
