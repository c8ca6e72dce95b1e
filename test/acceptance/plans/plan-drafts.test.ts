/** Plans that people draft: revised, approved by their hash, run with the approved steps, across crashes and deployments. */
import { expect, test } from 'vitest'
import { openPlans } from '#compose/plans.ts'
import { fn } from '#executors/workflow/function.ts'
import type { SystemSource } from '#manifest/define/define.ts'
import type { Json } from '#model/kernel/json.ts'
import { PLAN_RUN } from '#model/plan/draft.ts'
import type { Plans } from '#planner/plans.ts'
import { ana } from '#test/support/serving/inbox.ts'
import { onEveryStore } from '#test/support/stores/stores.ts'
import { startTestSystem } from '#testing/system.ts'

const HELLO = `a. Get all contacts
b. Compose email message: "Hello World!"
c. Send emails (requires steps a and b)`

onEveryStore('drafted plans', (store) => {
  const begin = async (more: Partial<SystemSource> = {}) => {
    const seen: [string, Json][] = []
    const noting = (name: string, answer: Json) =>
      fn(name, { retry: { maxAttempts: 1 } }, ({ input }) => {
        seen.push([name, input])
        return answer
      })
    const source: SystemSource = {
      name: 'mailing',
      functions: [
        noting('get-all-contacts', ['ana', 'bob']),
        noting('compose-email-message', { body: 'Hello' }),
        noting('send-emails', { sent: 2 }),
        fn('hello', {
          plan: { goal: 'Send an email to all my contacts that says "Hello World!"', approve: 'auto', text: HELLO },
        }),
      ],
      ...more,
    }
    const place = store()
    const system = await startTestSystem(source, place)
    const ids = place.ids()
    const plans = (): Plans => openPlans(system.engine, system.store.reader, { ids, clock: system.clock })
    const ask = <T>(work: (plans: Plans) => Promise<T>): Promise<T> => system.run(() => work(plans()))
    return { system, seen, ask }
  }

  test('[N3] plans-2: a draft is approved by its hash, runs with what was approved, and continues after a crash', async () => {
    const { system, seen, ask } = await begin()
    const draft = await ask((plans) => plans.propose({ text: HELLO }, 'bo'))
    expect(draft).toMatchObject({
      version: 1,
      revision: 1,
      current: { problems: [], hands: { 'send-emails': 'workflow' } },
    })
    await expect(ask((plans) => plans.run(draft.id, {}))).rejects.toMatchObject({ code: 'PLAN_NOT_APPROVED' })
    await system.crash()
    await ask((plans) => plans.approve(draft.id, draft.current.hash, ana))
    const run = await ask((plans) => plans.run(draft.id, { to: 'all' }))
    await ask((plans) => plans.revise(draft.id, { text: 'a. Send emails' }, { by: 'bo', version: 2 }))
    await system.settle()
    await system.crash()
    await system.settle()
    expect(await system.look(run)).toMatchObject({
      status: 'success',
      output: { steps: { a: { output: ['ana', 'bob'] }, c: { status: 'success', output: { sent: 2 } } } },
    })
    expect(seen.at(-1)).toEqual(['send-emails', { to: 'all', a: ['ana', 'bob'], b: { body: 'Hello' } }])
    expect(seen).toHaveLength(3)
    expect(await ask((plans) => plans.runs(draft.id))).toMatchObject([{ id: run, status: 'success' }])
    await expect(ask((plans) => plans.run(draft.id, {}))).rejects.toMatchObject({ code: 'PLAN_NOT_APPROVED' })
    await system.close()
  })

  test('[N3] plan-run-1: a run with steps that were not approved performs none of them, whoever starts it', async () => {
    const { system, seen, ask } = await begin()
    const draft = await ask((plans) => plans.propose({ text: 'a. Get all contacts' }, 'bo'))
    const approved = await ask((plans) => plans.approve(draft.id, draft.current.hash, ana))
    const order = await ask(async (plans) => plans.order(approved, {}))
    const forged = { ...order, steps: [{ id: 'a', assignedTo: 'send-emails' }], hands: { 'send-emails': 'workflow' } }
    for (const input of [forged, { ...order, hash: 'other' }, { ...order, plan: 'pln_none' }]) {
      await expect(system.start(PLAN_RUN, input)).rejects.toMatchObject({ code: 'NOT_FOUND' })
      const run = await system.start(PLAN_RUN, input, { isOwn: true })
      await system.settle()
      expect(await system.look(run)).toMatchObject({ status: 'failed', error: { code: 'PLAN_NOT_APPROVED' } })
    }
    expect(seen).toEqual([])
    await system.close()
  })

  test('plans-1: of two revisions of one version one is refused, and two approvals of one hash are one', async () => {
    const { system, ask } = await begin()
    const { id } = await ask((plans) => plans.propose({ text: HELLO }, 'bo'))
    const texts = ['a. Get all contacts', 'a. Send emails']
    const ends = await ask((plans) =>
      Promise.allSettled(texts.map((text) => plans.revise(id, { text }, { by: 'bo', version: 1 }))),
    )
    const [refused] = ends.flatMap((end) => (end.status === 'rejected' ? [end.reason as { code: string }] : []))
    expect([ends.map(({ status }) => status).toSorted(), refused?.code]).toEqual([
      ['fulfilled', 'rejected'],
      'PRECONDITION_FAILED',
    ])
    const { current } = await ask((plans) => plans.show(id))
    await ask((plans) => Promise.all([1, 2].map(() => plans.approve(id, current.hash, ana))))
    expect(await ask((plans) => plans.show(id))).toMatchObject({ version: 3, revision: 2, approvals: [{ by: ana.id }] })
    await system.close()
  })

  test('english-1: a sentence is parsed as the plan declared for it, with other words in the quotes', async () => {
    const { system, ask, seen } = await begin()
    const english = 'Send an email to all my contacts that says "Goodbye!"'
    const draft = await ask((plans) => plans.propose({ english }, 'bo'))
    expect(draft.current).toMatchObject({ goal: english, problems: [], lines: [{ id: 'a' }, { id: 'b' }, { id: 'c' }] })
    await ask((plans) => plans.approve(draft.id, draft.current.hash, ana))
    await ask((plans) => plans.run(draft.id, {}))
    await system.settle()
    expect(seen.find(([name]) => name === 'compose-email-message')?.[1]).toMatchObject({ text: 'Goodbye!' })
    const question = 'Send an email to all my contacts except Bob that says "Goodbye!"'
    await expect(ask((plans) => plans.propose({ english: question }, 'bo'))).rejects.toMatchObject({
      code: 'PLAN_QUESTION',
      detail: expect.stringContaining('Send an email to all my contacts that says'),
    })
    await system.close()
  })

  test('plans are listed newest first, and no function of the system can write where they are stored', async () => {
    const { system, ask } = await begin({
      functions: [
        fn('forge', { retry: { maxAttempts: 1 } }, ({ step }) =>
          step.run('write', ({ write }) => write('trihand.plan', 'x', { approvals: [] })),
        ),
      ],
    })
    const made: string[] = []
    for (const text of ['a. Forge', 'b. Forge', 'c. Forge'])
      made.unshift((await ask((plans) => plans.propose({ text }, 'bo'))).id)
    const first = await ask((plans) => plans.list({ after: null, limit: 2 }))
    const rest = await ask((plans) => plans.list({ after: first.at(-1)?.id ?? null, limit: 2 }))
    expect([...first, ...rest].map(({ id }) => id)).toEqual(made)
    const run = await system.start('forge', {})
    await system.settle()
    expect(await system.look(run)).toMatchObject({ status: 'failed', error: { code: 'OPERATION_NOT_ALLOWED' } })
    await system.close()
  })
})
