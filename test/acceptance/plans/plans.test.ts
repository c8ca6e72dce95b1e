/** Plans: steps of all three modalities that wait for each other, from text, from YAML's long form, across crashes and refusals. */
import { expect, test } from 'vitest'
import { fn } from '#executors/workflow/function.ts'
import type { SystemSource } from '#manifest/define/define.ts'
import { human } from '#manifest/human/humans.ts'
import { LOCAL_TENANT } from '#model/kernel/ids.ts'
import type { Json } from '#model/kernel/json.ts'
import type { PlanSource } from '#model/plan/source.ts'
import { FinalError } from '#model/run/step-failure.ts'
import { ana, Inbox, person } from '#test/support/serving/inbox.ts'
import { onEveryStore } from '#test/support/stores/stores.ts'
import { startTestSystem } from '#testing/system.ts'

const operator = person('otto', 'operators')

/** Functions that note their input, and a plan over them. */
const shop = (plan: PlanSource, seen: [string, Json][] = []): SystemSource => {
  const noting = (name: string, answer: Json) =>
    fn(name, { retry: { maxAttempts: 1 } }, ({ input }) => {
      seen.push([name, input])
      if (isAsked(input, 'fail')) throw new Error('no luck')
      return answer
    })
  return {
    name: 'shop',
    events: { 'paper.came': null },
    functions: [
      noting('get-all-contacts', ['ana', 'bob']),
      noting('compose-email-message', { body: 'Hello' }),
      noting('send-emails', { sent: 2 }),
      noting('mourn', 'mourned'),
      fn('work', { plan }),
    ],
    humans: [human('sign', { assign: 'user:ana', actions: ['approve', 'reject'] })],
  }
}

const isAsked = (input: Json, word: string): boolean => JSON.stringify(input).includes(word)

const HELLO = `
  a. Get all contacts
  b. Compose Email message: "Hello World!"
  c. Send emails (requires steps a and b)
`

onEveryStore('plans', (store) => {
  test('[N2] steps without a common requirement run in parallel, the others after what they require', async () => {
    const seen: [string, Json][] = []
    const system = await startTestSystem(shop({ text: HELLO, approve: 'auto' }, seen), store())
    const run = await system.start('work', { to: 'all' })
    await system.settle()
    expect(await system.look(run)).toMatchObject({
      status: 'success',
      output: { steps: { a: { status: 'success', output: ['ana', 'bob'] }, c: { output: { sent: 2 } } } },
    })
    expect(seen.at(-1)).toEqual(['send-emails', { to: 'all', a: ['ana', 'bob'], b: { body: 'Hello' } }])
    expect(seen.map(([name]) => name).toSorted()).toEqual(['compose-email-message', 'get-all-contacts', 'send-emails'])
    expect(seen.find(([name]) => name === 'compose-email-message')?.[1]).toMatchObject({ text: 'Hello World!' })
    await system.close()
  })

  test('[N3] nothing of a plan begins before people have seen its steps and approved', async () => {
    const seen: [string, Json][] = []
    const system = await startTestSystem(shop({ text: HELLO, goal: 'Greet everybody' }, seen), store())
    const inbox = new Inbox(system)
    const [agreed, refused] = [await system.start('work', {}), await system.start('work', {})]
    await system.settle()
    await system.crash()
    expect(seen).toEqual([])
    for (const task of await inbox.of(operator)) {
      expect(task.title).toBe('Greet everybody')
      const action = task.run === agreed ? { action: 'approve' } : { action: 'reject', reason: 'not today' }
      await inbox.decide(task.id, operator, action)
    }
    await system.settle()
    expect(await system.look(agreed)).toMatchObject({ status: 'success' })
    expect(await system.look(refused)).toMatchObject({ status: 'failed', error: { code: 'STEP_REFUSED' } })
    expect(seen).toHaveLength(3)
    await system.close()
  })

  test('[A1] a function, a person and time are steps of one plan, and a crash repeats none of them', async () => {
    const seen: [string, Json][] = []
    const plan: PlanSource = {
      approve: 'auto',
      steps: [
        { id: 'draft', type: 'compose-email-message', inputs: { subject: '{{ topic }} for {{ payload.to }}' } },
        { id: 'rest', type: 'wait', waitConfig: { duration: '2d' }, requires: ['draft'] },
        {
          id: 'sign',
          type: 'approval',
          requires: ['rest'],
          humanConfig: { assign: 'user:ana', title: 'Sign {{ draft.body }}', allowedActions: ['approve', 'reject'] },
        },
        { id: 'send', assignedTo: 'send-emails', inputs: { by: { expr: 'steps.sign.output.decided_by' } } },
      ],
    }
    const system = await startTestSystem(shop(plan, seen), store())
    const inbox = new Inbox(system)
    const run = await system.start('work', { to: 'ana', topic: 'News' })
    await system.settle()
    expect(seen).toEqual([['compose-email-message', { subject: 'News for ana' }]])
    await system.crash()
    await system.advance('2d')
    expect((await inbox.of(ana)).map(({ title }) => title)).toEqual(['Sign Hello'])
    await inbox.decide(await inbox.only(), ana, { action: 'approve' })
    await system.settle()
    expect(seen.slice(1)).toEqual([['send-emails', { by: 'ana' }]])
    expect(await system.look(run)).toMatchObject({ status: 'success' })
    await system.close()
  })

  test('[N2] a refusal by people skips everything behind it, and the rest is done', async () => {
    const seen: [string, Json][] = []
    const plan: PlanSource = {
      approve: 'auto',
      steps: [
        { id: 'ok', type: 'approval', humanConfig: { assign: 'user:ana' } },
        { id: 'send', type: 'send-emails', requires: ['ok'] },
        { id: 'after', type: 'mourn', requires: ['send'] },
        { id: 'other', type: 'get-all-contacts' },
      ],
    }
    const system = await startTestSystem(shop(plan, seen), store())
    const inbox = new Inbox(system)
    const run = await system.start('work', {})
    await system.settle()
    await inbox.decide(await inbox.only(), ana, { action: 'reject', reason: 'no' })
    await system.settle()
    expect(await system.look(run)).toMatchObject({
      status: 'partial',
      output: {
        steps: {
          ok: { status: 'rejected', output: { decision: 'reject' } },
          send: { status: 'skipped' },
          after: { status: 'skipped' },
          other: { status: 'success' },
        },
      },
    })
    expect(seen.map(([name]) => name)).toEqual(['get-all-contacts'])
    await system.close()
  })

  test('[N2] a condition skips a step, and only those that read it; a list makes a child of each item', async () => {
    const seen: [string, Json][] = []
    const plan: PlanSource = {
      approve: 'auto',
      steps: [
        { id: 'maybe', type: 'compose-email-message', when: 'payload.wanted' },
        { id: 'reads', type: 'mourn', inputs: { text: '{{ steps.maybe.output.body }}' } },
        { id: 'behind', type: 'get-all-contacts', requires: ['maybe'] },
        { id: 'many', type: 'send-emails', each: 'steps.behind.output', as: 'who', inputs: { to: '{{ who }}' } },
      ],
    }
    const system = await startTestSystem(shop(plan, seen), store())
    const run = await system.start('work', { wanted: false })
    await system.settle()
    expect(await system.look(run)).toMatchObject({
      status: 'success',
      output: {
        steps: {
          maybe: { status: 'skipped' },
          reads: { status: 'skipped' },
          behind: { status: 'success' },
          many: { output: [{ sent: 2 }, { sent: 2 }] },
        },
      },
    })
    const sent = seen.flatMap(([name, input]) => (name === 'send-emails' ? [JSON.stringify(input)] : []))
    expect(sent.toSorted()).toEqual(['{"to":"ana"}', '{"to":"bob"}'])
    await system.close()
  })

  test('a failed step ends the plan, is skipped, or asks a person who has it done again', async () => {
    const plan = (onFailure: 'fail' | 'skip' | 'human'): PlanSource => ({
      approve: 'auto',
      steps: [{ id: 'a', type: 'mourn', inputs: { word: 'fail' }, onFailure }],
    })
    const system = await startTestSystem(shop(plan('fail')), store())
    const failed = await system.start('work', {})
    await system.settle()
    expect(await system.look(failed)).toMatchObject({ status: 'failed' })
    await system.crash(shop(plan('skip')))
    const skipped = await system.start('work', {})
    await system.settle()
    expect(await system.look(skipped)).toMatchObject({ output: { steps: { a: { status: 'skipped' } } } })
    const seen: [string, Json][] = []
    await system.crash(shop(plan('human'), seen))
    const inbox = new Inbox(system)
    const asked = await system.start('work', {})
    await system.settle()
    await inbox.decide(await inbox.only(), operator, { action: 'retry' })
    await system.settle()
    expect(seen).toHaveLength(2)
    await inbox.decide(await inbox.only(), operator, { action: 'skip' })
    await system.settle()
    expect(await system.look(asked)).toMatchObject({
      status: 'success',
      output: { steps: { a: { status: 'skipped' } } },
    })
    await system.close()
  })

  test('after a person answers retry to a failed step the same run continues, and the person saw what is done (14.1.1)', async () => {
    const keys: string[] = []
    let isBroken = true
    const pay = fn('pay', { retry: { maxAttempts: 1 } }, async ({ step }) => {
      await step.run('charge', ({ effectKey }) => void keys.push(effectKey), { effect: 'once' })
      await step.run('print', () => {
        if (isBroken) throw new FinalError('no paper')
      })
      return 'paid'
    })
    const plan: PlanSource = { approve: 'auto', steps: [{ id: 'a', type: 'pay', onFailure: 'human' }] }
    const system = await startTestSystem({ name: 'till', functions: [pay, fn('work', { plan })] }, store())
    const inbox = new Inbox(system)
    const run = await system.start('work', {})
    await system.settle()
    for (const attempt of [1, 2]) {
      const task = await inbox.only()
      expect(JSON.stringify(await inbox.facts(task))).toContain('Already done, and not repeated by a retry: charge.')
      if (attempt === 2) isBroken = false
      await inbox.decide(task, operator, { action: 'retry' })
      await system.settle()
      await system.crash()
    }
    await system.settle()
    expect(await system.look(run)).toMatchObject({ status: 'success', output: { steps: { a: { output: 'paid' } } } })
    expect(keys).toHaveLength(1)
    expect(await system.store.reader.children(LOCAL_TENANT, run)).toHaveLength(1)
    await system.close()
  })

  test('the run of a plan step ends with the plan, unless it says on_parent_end: detach (14.1.5)', async () => {
    const paid: string[] = []
    const pay = fn<{ who: string }>('pay', {}, async ({ input, step }) => {
      await step.sleep('think', '1h')
      await step.run('charge', () => void paid.push(input.who), { effect: 'once' })
    })
    const bad = fn('bad', { retry: { maxAttempts: 1 } }, async ({ step }) => {
      await step.sleep('think', '1m')
      throw new FinalError('no')
    })
    const plan: PlanSource = {
      approve: 'auto',
      steps: [
        { id: 'a', type: 'pay', inputs: { who: 'with the plan' } },
        { id: 'b', type: 'pay', inputs: { who: 'by itself' }, onParentEnd: 'detach' },
        { id: 'c', type: 'bad' },
      ],
    }
    const system = await startTestSystem({ name: 'till', functions: [pay, bad, fn('work', { plan })] }, store())
    const run = await system.start('work', {})
    await system.advance('2h')
    expect((await system.look(run)).status).toBe('failed')
    expect(paid).toEqual(['by itself'])
    await system.close()
  })

  test('[N2] a step waits for an event until its timeout, and a step without a handler is refused when it begins', async () => {
    const wait = (timeoutAction: 'continue' | 'fail'): PlanSource => ({
      approve: 'auto',
      steps: [{ id: 'w', type: 'wait', waitConfig: { untilEvent: 'paper.came', timeout: '1h', timeoutAction } }],
    })
    const system = await startTestSystem(shop(wait('continue')), store())
    const early = await system.start('work', {})
    await system.settle()
    await system.send({ type: 'paper.came', data: { n: 1 } })
    await system.settle()
    expect(await system.look(early)).toMatchObject({ output: { steps: { w: { output: { data: { n: 1 } } } } } })
    await system.crash(shop(wait('fail')))
    const missed = await system.start('work', {})
    await system.advance('2h')
    expect(await system.look(missed)).toMatchObject({ status: 'failed', error: { code: 'STEP_TIMEOUT' } })
    await system.crash(shop({ approve: 'auto', text: 'a. Dance' }))
    const nobody = await system.start('work', {})
    await system.settle()
    expect(await system.look(nobody)).toMatchObject({ status: 'failed', error: { code: 'PLAN_UNASSIGNED' } })
    await system.close()
  })
})
