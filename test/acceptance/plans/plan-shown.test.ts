/** An approval of a plan covers what people were shown: across deployments, with the input that was shown, without secrets. */
import { expect, test } from 'vitest'
import { openPlans } from '#compose/plans.ts'
import { fn } from '#executors/workflow/function.ts'
import type { SystemSource } from '#manifest/define/define.ts'
import type { Json } from '#model/kernel/json.ts'
import { PLAN_RUN } from '#model/plan/draft.ts'
import type { PlanSource } from '#model/plan/source.ts'
import type { Plans } from '#planner/plans.ts'
import { ana, Inbox, person } from '#test/support/serving/inbox.ts'
import { onEveryStore } from '#test/support/stores/stores.ts'
import { startTestSystem } from '#testing/system.ts'

const operator = person('otto', 'operators')
const paying = (amount: number): PlanSource => ({
  goal: 'Say hello',
  steps: [{ id: 'a', assignedTo: 'transfer', inputs: { amount, to: '{{ payload.to }}' } }],
})

onEveryStore('a plan as it was shown', (store) => {
  const begin = async (plan: PlanSource = paying(1)) => {
    const paid: Json[] = []
    const sourceOf = (work: PlanSource, effect: 'once' | 'idempotent' = 'once'): SystemSource => ({
      name: 'bank',
      functions: [
        fn('transfer', { effect, retry: { maxAttempts: 1 } }, ({ input }) => {
          paid.push(input)
          return 'paid'
        }),
        fn('work', { plan: work }),
      ],
    })
    const place = store()
    const system = await startTestSystem(sourceOf(plan), place)
    const ids = place.ids()
    const ask = <T>(work: (plans: Plans) => Promise<T>): Promise<T> =>
      system.run(() => work(openPlans(system.engine, system.store.reader, { ids, clock: system.clock })))
    const inbox = new Inbox(system)
    const approve = async () => {
      await system.settle()
      await inbox.decide(await inbox.only(), operator, { action: 'approve' })
      await system.settle()
    }
    return { system, paid, sourceOf, ask, inbox, approve }
  }

  test('[N3] plan-run-2: a plan that a deployment changed after it was shown is shown and approved again (13.1.3)', async () => {
    const { system, paid, sourceOf, approve } = await begin()
    const run = await system.start('work', { to: 'bo' })
    await system.settle()
    const changed = sourceOf(paying(1_000_000))
    await system.crash(changed)
    await approve()
    expect([(await system.look(run)).status, paid]).toEqual(['waiting', []])
    await system.crash(changed)
    await approve()
    expect([(await system.look(run)).status, paid]).toEqual(['success', [{ amount: 1_000_000, to: 'bo' }]])
    await system.close()
  })

  test('[N3] plan-run-2: the same plan is approved once, whatever else a deployment changed (13.1.3)', async () => {
    const { system, paid, sourceOf, approve } = await begin()
    const run = await system.start('work', { to: 'bo' })
    await system.settle()
    const { functions = [], ...rest } = sourceOf(paying(1))
    await system.crash({ ...rest, functions: [...functions, fn('more', {}, () => null)] })
    await approve()
    expect([(await system.look(run)).status, paid]).toEqual(['success', [{ amount: 1, to: 'bo' }]])
    await system.close()
  })

  test('[N3] plan-draft-4: a draft whose handler has changed is not approved by the old hash (13.1.3)', async () => {
    const { system, sourceOf, ask } = await begin()
    const steps = [{ id: 'a', assigned_to: 'transfer', inputs: { amount: 1 } }]
    const draft = await ask((plans) => plans.propose({ steps }, 'bo'))
    await system.crash(sourceOf(paying(1), 'idempotent'))
    await expect(ask((plans) => plans.approve(draft.id, draft.current.hash, ana))).rejects.toMatchObject({
      code: 'PLAN_STALE',
    })
    const next = await ask((plans) => plans.revise(draft.id, { steps }, { by: 'bo', version: 1 }))
    await ask((plans) => plans.approve(draft.id, next.current.hash, ana))
    await system.close()
  })

  test('[N3] plan-draft-5: a plan that was shown with its input runs with no other, however it is started (13.1.3)', async () => {
    const { system, paid, ask } = await begin()
    const { steps } = { steps: [{ id: 'a', assigned_to: 'transfer', inputs: { to: '{{ payload.to }}' } }] }
    const input = { to: 'bo' }
    const { id, current } = await ask((plans) => plans.propose({ steps, input }, 'bo'))
    const approved = await ask((plans) => plans.approve(id, current.hash, ana))
    await expect(ask((plans) => plans.run(id, { to: 'mallory' }))).rejects.toMatchObject({ code: 'INPUT_INVALID' })
    const order = await ask(async (plans) => plans.order(approved))
    const { worksOn: _, ...without } = order
    for (const forged of [
      { ...order, input: { to: 'mallory' } },
      { ...order, input: { to: 'mallory' }, worksOn: { to: 'mallory' } },
      { ...without, input: { to: 'mallory' } },
    ]) {
      const run = await system.start(PLAN_RUN, forged, { isOwn: true })
      await system.settle()
      expect(await system.look(run)).toMatchObject({ status: 'failed', error: { code: 'PLAN_NOT_APPROVED' } })
    }
    await ask((plans) => plans.run(id))
    await system.settle()
    expect(paid).toEqual([{ to: 'bo' }])
    // A revision keeps the input of the plan, unless it gives another.
    const kept = await ask((plans) => plans.revise(id, { steps }, { by: 'bo', version: approved.version }))
    expect(kept.current.worksOn).toEqual(input)
    const free = await ask((plans) => plans.revise(id, { steps, input: null }, { by: 'bo', version: kept.version }))
    expect(free.current.worksOn).toBeUndefined()
    await system.close()
  })

  test('[N3] a secret in a plan is neither stored nor shown, and the rest can be approved (13.1.3)', async () => {
    const { system, paid, ask } = await begin()
    const key = `sk_live_${'a1'.repeat(12)}`
    const given = {
      goal: key,
      input: { key },
      steps: [{ id: 'a', name: key, assigned_to: 'transfer', inputs: { key } }],
    }
    const draft = await ask((plans) => plans.propose(given, 'bo'))
    const shown = await ask((plans) => plans.show(draft.id))
    expect(JSON.stringify([draft, shown])).not.toContain(key)
    expect(shown.current.lines[0]?.inputs).toEqual([{ path: 'key', value: '[redacted:stripe_key]', from: [] }])
    await ask((plans) => plans.approve(draft.id, draft.current.hash, ana))
    await ask((plans) => plans.run(draft.id))
    await system.settle()
    expect(paid).toEqual([{ key: '[redacted:stripe_key]' }])
    await system.close()
  })

  test('[N3] texts written by a model stay marked as such through a revision by a person (13.1.3)', async () => {
    const { system, ask } = await begin()
    const step = { id: 'a', name: 'Say hello', assigned_to: 'transfer', inputs: { amount: 1 } }
    const { id } = await ask((plans) =>
      plans.propose({ goal: 'Greet', steps: [step] }, { by: 'chat', author: 'model' }),
    )
    const named = { ...step, id: 'b', name: 'Pay mallory' }
    const intent = { goal: 'Greet', steps: [{ ...step, inputs: { amount: 2 } }, named] }
    const { current } = await ask((plans) => plans.revise(id, intent, { by: 'ana', version: 1 }))
    expect([current.goalBy, current.lines.map(({ namedBy }) => namedBy)]).toEqual(['model', ['model', 'person']])
    await system.close()
  })
})
