/** A "no" in a plan: any answer of people other than yes stops the steps that require it, and is visible in the run's output. */
import { expect, test } from 'vitest'
import { fn } from '#executors/workflow/function.ts'
import type { SystemSource } from '#manifest/define/define.ts'
import { human } from '#manifest/human/humans.ts'
import { loadManifest } from '#manifest/yaml/load.ts'
import { sourceOf } from '#manifest/yaml/source.ts'
import type { Json } from '#model/kernel/json.ts'
import type { PlanSource, PlanStepSource } from '#model/plan/source.ts'
import type { TaskOptions } from '#model/task/source.ts'
import { ana, Inbox, person } from '#test/support/serving/inbox.ts'
import { onEveryStore } from '#test/support/stores/stores.ts'
import { startTestSystem, type TestSystem } from '#testing/system.ts'

const boss = person('boss', 'operators')

const shop = (plan: PlanSource, done: [string, Json][] = []): SystemSource => {
  const noting = (name: string) =>
    fn(name, { retry: { maxAttempts: 1 } }, ({ input }) => {
      done.push([name, input])
      return { text: `${name} ${done.length}` }
    })
  return {
    name: 'shop',
    functions: [noting('draft'), noting('pay'), noting('mail'), noting('tell'), fn('work', { plan })],
    humans: [human('sign', { assign: 'user:ana', actions: ['approve', 'request_edit', 'reject'] })],
  }
}

const TYPES = ['approval', 'decision', 'review', 'input'] as const

/** One question, a payment that requires it, a mail that requires the payment, and an unrelated step. */
const steps = (ask: Partial<PlanStepSource>, dependent: Partial<PlanStepSource> = {}): readonly PlanStepSource[] => [
  { id: 'ok', name: 'Is it right?', ...ask },
  { id: 'pay', type: 'pay', requires: ['ok'], ...dependent },
  { id: 'mail', type: 'mail', requires: ['pay'] },
  { id: 'tell', type: 'tell' },
]

const asking = (taskType: (typeof TYPES)[number], config: TaskOptions = {}): Partial<PlanStepSource> => ({
  type: taskType,
  assignedTo: 'human',
  humanConfig: { assign: 'user:ana', actions: ['approve', 'reject'], ...config },
})

const REFUSED = { pay: { status: 'skipped' }, mail: { status: 'skipped' }, tell: { status: 'success' } }

onEveryStore('a no in a plan', (store) => {
  const play = async (
    plan: readonly PlanStepSource[],
    answer: (inbox: Inbox, system: TestSystem) => Promise<unknown>,
  ) => {
    const done: [string, Json][] = []
    const system = await startTestSystem(shop({ approve: 'auto', steps: plan }, done), store())
    const run = await system.start('work', {})
    await system.settle()
    await answer(new Inbox(system), system)
    await system.settle()
    await system.crash()
    await system.settle()
    const seen = await system.look(run)
    await system.close()
    return { seen, done: done.map(([name]) => name) }
  }

  for (const type of TYPES)
    test(`[C5] a rejected ${type} skips the plan steps that require it, and names who said no (13.1.1)`, async () => {
      const { seen, done } = await play(steps(asking(type)), async (inbox) =>
        inbox.decide(await inbox.only(), ana, { action: 'reject', reason: 'too dear' }),
      )
      expect(done).toEqual(['tell'])
      expect(seen).toMatchObject({
        status: 'partial',
        output: {
          steps: {
            ...REFUSED,
            ok: { status: 'rejected', output: { decision: 'reject', feedback: 'too dear' } },
            pay: { status: 'skipped', because: 'ok', reason: expect.stringContaining('ana') },
            mail: { status: 'skipped', because: 'ok', reason: expect.stringContaining('too dear') },
          },
        },
      })
    })

  test('[C5] a deadline that expires skips the plan steps that require the answer (13.1.1)', async () => {
    const config: TaskOptions = { deadline: '1h', autoActionOnTimeout: 'expire' }
    for (const type of TYPES) {
      const { seen, done } = await play(steps(asking(type, config)), (_, system) => system.advance('2h'))
      expect([type, done]).toEqual([type, ['tell']])
      expect(seen).toMatchObject({ status: 'partial', output: { steps: REFUSED } })
    }
  })

  test('[C5] a custom action approves only if it says so, whatever the type of the question (13.1.1)', async () => {
    const actions: TaskOptions['actions'] = [
      { name: 'later' },
      { name: 'never', marksApproved: false },
      { name: 'go', marksApproved: true },
      { name: 'fine', nextState: 'approved' },
    ]
    for (const type of TYPES)
      for (const [action, isYes] of [
        ['later', false],
        ['never', false],
        ['go', true],
        ['fine', true],
      ] as const) {
        const { done } = await play(steps(asking(type, { actions })), async (inbox) =>
          inbox.decide(await inbox.only(), ana, { action }),
        )
        expect([type, action, done.includes('pay')]).toEqual([type, action, isYes])
      }
  })

  test('[C5] an answer to a question is a yes: respond lets the plan continue (13.1.1)', async () => {
    for (const type of ['input', 'decision'] as const) {
      const plain: Partial<PlanStepSource> = { type, humanConfig: { assign: 'user:ana' } }
      const { seen, done } = await play(steps(plain), async (inbox) =>
        inbox.decide(await inbox.only(), ana, { action: 'respond', fields: { amount: 3 } }),
      )
      expect(done.toSorted()).toEqual(['mail', 'pay', 'tell'])
      expect(seen).toMatchObject({
        status: 'success',
        output: { steps: { ok: { output: { fields: { amount: 3 } } } } },
      })
    }
  })

  test('[C5] an approval that rejects every item is a no, and one that rejects some of them is a yes (13.1.1)', async () => {
    const bundle = { sections: [{ id: 'mails', type: 'review_items', items: [{ id: 'm1' }, { id: 'm2' }] }] } as const
    for (const [rejected, isYes] of [
      [['m1', 'm2'], false],
      [['m1'], true],
    ] as const) {
      const items = Object.fromEntries(rejected.map((id) => [id, { status: 'rejected' as const }]))
      const { done } = await play(steps(asking('review', { bundle })), async (inbox) =>
        inbox.decide(await inbox.only(), ana, { action: 'approve', items }),
      )
      expect(done.includes('pay')).toBe(isYes)
    }
  })

  test('[C5] on_reject: continue lets a step run after a no, and the steps that require it too (13.1.1)', async () => {
    const { seen, done } = await play(steps(asking('decision'), { onReject: 'continue' }), async (inbox) =>
      inbox.decide(await inbox.only(), ana, { action: 'reject', reason: 'no' }),
    )
    expect(done.toSorted()).toEqual(['mail', 'pay', 'tell'])
    expect(seen).toMatchObject({ output: { steps: { ok: { status: 'rejected' }, pay: { status: 'success' } } } })
  })

  test('[C5] on_reject: continue also applies after a step that was skipped for a no, however far behind (13.1.1)', async () => {
    const plan: readonly PlanStepSource[] = [
      ...steps(asking('approval')),
      { id: 'report', type: 'draft', requires: ['mail'], onReject: 'continue' },
    ]
    const { seen, done } = await play(plan, async (inbox) =>
      inbox.decide(await inbox.only(), ana, { action: 'reject', reason: 'no' }),
    )
    expect(done.toSorted()).toEqual(['draft', 'tell'])
    expect(seen).toMatchObject({ output: { steps: { mail: { status: 'skipped' }, report: { status: 'success' } } } })
  })

  test('[C5] request_edit keeps the step open: the step it returns to is done again, and the revision is decided (13.1.1)', async () => {
    const done: [string, Json][] = []
    const plan: readonly PlanStepSource[] = [
      { id: 'draft', type: 'draft', inputs: { topic: 'News' } },
      {
        id: 'ok',
        type: 'decision',
        humanConfig: {
          assign: 'user:ana',
          context: { letter: '{{ steps.draft.output.text }}' },
          actions: ['approve', { name: 'request_edit', returnsTo: 'draft' }, 'reject'],
        },
      },
      { id: 'pay', type: 'pay', requires: ['ok'] },
    ]
    const system = await startTestSystem(shop({ approve: 'auto', steps: plan }, done), store())
    const inbox = new Inbox(system)
    const run = await system.start('work', {})
    await system.settle()
    const task = await inbox.only()
    const shown = async () => {
      const { state } = await system.run(() => system.engine.tasks.show(task))
      return state.kind === 'open' ? state.spec.context : null
    }
    expect(await shown()).toEqual({ letter: 'draft 1' })
    for (const [round, reason] of ['shorter', 'kinder'].entries()) {
      await inbox.decide(task, ana, { action: 'request_edit', reason })
      await system.settle()
      await system.crash()
      expect(await inbox.only()).toBe(task)
      expect(await shown()).toEqual({ letter: `draft ${round + 2}` })
    }
    expect(done.map(([name]) => name)).toEqual(['draft', 'draft', 'draft'])
    expect(done.map(([, input]) => input)).toMatchObject([
      { topic: 'News' },
      { topic: 'News', feedback: 'shorter' },
      { topic: 'News', feedback: 'kinder' },
    ])
    await inbox.decide(task, ana, { action: 'approve' })
    await system.settle()
    expect(done.at(-1)?.[0]).toBe('pay')
    expect(await system.look(run)).toMatchObject({
      status: 'success',
      output: {
        steps: { draft: { output: { text: 'draft 3' } }, ok: { output: { decision: 'approve', revision: 3 } } },
      },
    })
    await system.close()
  })

  test('[C5] request_edit that returns to no step asks the same question again; nothing runs meanwhile (13.1.1)', async () => {
    for (const type of TYPES)
      for (const last of ['approve', 'reject'] as const) {
        const actions: TaskOptions['actions'] = ['approve', 'request_edit', 'reject']
        const { done, seen } = await play(steps(asking(type, { actions })), async (inbox, system) => {
          const task = await inbox.only()
          await inbox.decide(task, ana, { action: 'request_edit', reason: 'add a date' })
          await system.settle()
          expect(await inbox.only()).toBe(task)
          await inbox.decide(task, ana, { action: last, reason: 'seen' })
        })
        expect([type, last, done.includes('pay')]).toEqual([type, last, last === 'approve'])
        expect(seen).toMatchObject({ status: last === 'approve' ? 'success' : 'partial' })
      }
  })

  test('[C5] a no of a declared human that a line of text names counts as any other (13.1.1)', async () => {
    for (const [action, isYes] of [
      ['approve', true],
      ['reject', false],
    ] as const) {
      const done: [string, Json][] = []
      const text = 'a. Sign\nb. Pay (requires step a)\nc. Mail (requires step b)'
      const system = await startTestSystem(shop({ approve: 'auto', text }, done), store())
      const inbox = new Inbox(system)
      const run = await system.start('work', {})
      await system.settle()
      await inbox.decide(await inbox.only(), ana, { action: 'request_edit', reason: 'which one?' })
      await system.settle()
      expect(done).toEqual([])
      const [open] = (await inbox.of(ana)).filter(({ status }) => status === 'pending')
      if (open === undefined) throw new Error('the revision is asked for')
      await inbox.decide(open.id, ana, { action, reason: 'no' })
      await system.settle()
      expect(done.map(([name]) => name)).toEqual(isYes ? ['pay', 'mail'] : [])
      expect(await system.look(run)).toMatchObject({ status: isYes ? 'success' : 'partial' })
      await system.close()
    }
  })

  test('[C5] a declared human whose run is cancelled has not said yes: the steps that require it are skipped (13.1.1)', async () => {
    for (const onFailure of ['fail', 'skip'] as const) {
      const { seen, done } = await play(steps({ assignedTo: 'sign', onFailure }), async (inbox, system) => {
        const [task] = await inbox.of(ana)
        if (task === undefined) throw new Error('ana is asked')
        await system.run(() => system.engine.cancel(task.run, 'boss', 'not needed'))
      })
      expect([onFailure, done]).toEqual([onFailure, ['tell']])
      expect(seen).toMatchObject({ status: 'partial', output: { steps: { ...REFUSED, ok: { status: 'rejected' } } } })
    }
  })

  test('[C5] one no among many items of each is a no, and so is a refusal of the whole plan (13.1.1)', async () => {
    const each: Partial<PlanStepSource> = { ...asking('approval'), each: '["a", "b"]' }
    const many = await play(steps(each), async (inbox) => {
      const [first, second] = await inbox.of(ana)
      if (first === undefined || second === undefined) throw new Error('ana is asked twice')
      await inbox.decide(first.id, ana, { action: 'approve' })
      await inbox.decide(second.id, ana, { action: 'reject', reason: 'not b' })
    })
    expect(many.done).toEqual(['tell'])
    const begin: readonly PlanStepSource[] = steps({ type: 'draft', trigger: 'manual' })
    const { done, seen } = await play(begin, async (inbox) =>
      inbox.decide(await inbox.only(), boss, { action: 'reject', reason: 'not today' }),
    )
    expect(done).toEqual(['tell'])
    expect(seen).toMatchObject({ status: 'partial', output: { steps: { ...REFUSED, ok: { status: 'rejected' } } } })
  })

  test('[C5] a manifest declares on_reject, and its rejected decision skips the steps that require it (13.1.1)', async () => {
    const text = `
product: {name: campaign}
functions: [{name: send-email}, {name: tell-author}]
plans:
  - name: answer
    approve: auto
    steps:
      - {id: review, type: decision, assigned_to: human, human_config: {assign: "user:ana", allowed_actions: [approve, reject, request_edit, reassign]}}
      - {id: send, assigned_to: send-email, requires: [review]}
      - {id: tell, assigned_to: tell-author, requires: [send], on_reject: continue}
`
    const { manifest, findings } = loadManifest(text)
    if (manifest === null) throw new Error(JSON.stringify(findings))
    expect(findings.filter(({ code }) => code === 'LINT_NOT_USED')).toEqual([])
    const done: string[] = []
    const code = new Map(['send-email', 'tell-author'].map((name) => [name, () => void done.push(name)] as const))
    const system = await startTestSystem(sourceOf(manifest, { code }), store())
    const inbox = new Inbox(system)
    const run = await system.start('answer', {})
    await system.settle()
    await inbox.decide(await inbox.only(), ana, { action: 'reject', reason: 'off topic' })
    await system.settle()
    expect(done).toEqual(['tell-author'])
    expect(await system.look(run)).toMatchObject({
      status: 'partial',
      output: { steps: { send: { status: 'skipped', because: 'review' }, tell: { status: 'success' } } },
    })
    await system.close()
  })
})
