/** Reruns and the decisions of people in them: no decision applies to something people never saw, and no program can reuse one. */
import { expect, test } from 'vitest'
import { fn } from '#executors/workflow/function.ts'
import { human } from '#manifest/human/humans.ts'
import type { Kind } from '#model/access/identity.ts'
import type { RunId } from '#model/kernel/ids.ts'
import { ana, Inbox } from '#test/support/serving/inbox.ts'
import { onEveryStore } from '#test/support/stores/stores.ts'
import { startTestSystem, type TestSystem } from '#testing/system.ts'

interface RerunOptions {
  readonly from?: string
  readonly input?: unknown
  readonly decisions?: boolean
  readonly kind?: Kind
}

const rerun = (system: TestSystem, run: RunId, intent: RerunOptions): Promise<RunId> =>
  system.run(() => system.engine.reruns.rerun(run, { by: 'x', ...intent }))

const codeOf = (system: TestSystem, run: RunId, intent: RerunOptions): Promise<string> =>
  rerun(system, run, intent).then(
    () => 'begun',
    ({ code }: { code: string }) => code,
  )

/** A transfer that ana approves: by a step of the run itself, by a human that it calls, or by an event of a human's decision. */
const transfers = () => {
  const paid: string[] = []
  const source = {
    name: 'transfers',
    events: { 'transfer.wanted': null, listen: null },
    humans: [
      human('check', { assign: 'ana', title: 'Pay {{ payload.to }}?' }),
      human('approve', {
        trigger: 'transfer.wanted',
        assign: 'ana',
        actions: [{ name: 'approve', emitsEvent: 'transfer.approved', eventPayload: { to: 'bob' } }, 'reject'],
      }),
    ],
    functions: [
      fn('asks', {}, async ({ input, step }) => {
        const { to } = input as { to: string }
        await step.run('draft', () => null)
        await step.human('approve', { assign: 'ana', title: `Pay ${to}?` })
        await step.run('pay', () => void paid.push(to))
        await step.run('note', () => null)
      }),
      fn('calls', {}, async ({ input, step }) => {
        const { to } = input as { to: string }
        await step.run('draft', () => null)
        await step.invoke('approve', 'check', { to })
        await step.run('pay', () => void paid.push(to))
        await step.run('note', () => null)
      }),
      fn('listens', { trigger: 'listen' }, async ({ input, step }) => {
        const { to } = input as { to: string }
        await step.run('draft', () => null)
        await step.waitForEvent('approval', { event: 'transfer.approved' })
        await step.run('pay', () => void paid.push(to))
        await step.run('note', () => null)
      }),
      fn('hears', { trigger: 'transfer.approved' }, async ({ input, step }) => {
        await step.run('pay', () => void paid.push((input as { to: string }).to))
        await step.run('note', () => null)
      }),
      fn('follows', { trigger: { after: 'approve' } }, () => null),
    ],
  }
  return { paid, source }
}

const approved = async (system: TestSystem, inbox: Inbox, name: string): Promise<RunId> => {
  const run = await system.start(name, { to: 'bob' })
  await system.settle()
  await inbox.decide(await inbox.only(), ana, { action: 'approve' })
  await system.settle()
  expect((await system.look(run)).status).toBe('success')
  return run
}

onEveryStore('reruns and decisions', (store) => {
  test.each(['asks', 'calls'])(
    'reruns-2 rerun-2: [Q9] with another input the person is asked anew, whatever the options, where a function %s (13.1.2)',
    async (name) => {
      const { paid, source } = transfers()
      const system = await startTestSystem(source, store())
      const inbox = new Inbox(system)
      const old = await approved(system, inbox, name)
      for (const [index, intent] of [{ from: 'note' }, { from: 'pay' }, { from: 'draft' }, {}].entries()) {
        const run = await rerun(system, old, { ...intent, input: { to: 'mallory' }, decisions: true })
        await system.settle()
        expect([intent, (await system.look(run)).status, (await inbox.list()).length]).toEqual([
          intent,
          'waiting',
          index + 1,
        ])
      }
      expect(paid).toEqual(['bob'])
      await system.close()
    },
  )

  test('kept-decision-2: [Q9] a rerun from before the question asks the person anew, whatever reuse_decisions says (13.1.2)', async () => {
    const { paid, source } = transfers()
    const system = await startTestSystem(source, store())
    const inbox = new Inbox(system)
    const old = await approved(system, inbox, 'asks')
    for (const intent of [{ from: 'draft' }, { from: 'approve' }, {}]) {
      const run = await rerun(system, old, { ...intent, decisions: true })
      await system.settle()
      expect([intent, (await system.look(run)).status]).toEqual([intent, 'waiting'])
    }
    expect([paid, (await inbox.list()).length]).toEqual([['bob'], 3])
    const behind = await rerun(system, old, { from: 'pay' })
    await system.settle()
    expect([(await system.look(behind)).status, paid]).toEqual(['success', ['bob', 'bob']])
    await system.close()
  })

  test('reruns-3 decided-steps-1: [Q9] an agent or a service cannot rerun anything that depends on a decision (13.1.2)', async () => {
    const { paid, source } = transfers()
    const system = await startTestSystem(source, store())
    const inbox = new Inbox(system)
    for (const name of ['asks', 'calls']) {
      const old = await approved(system, inbox, name)
      // Carried over twice, it is still a decision.
      const person = await rerun(system, old, { from: 'note' })
      await system.settle()
      for (const kind of ['agent', 'service'] as const)
        for (const run of [old, person]) {
          for (const from of ['pay', 'note'])
            expect([name, kind, from, await codeOf(system, run, { from, kind })]).toEqual([
              ...[name, kind, from],
              'AGENT_CANNOT_DECIDE',
            ])
          expect(await codeOf(system, run, { from: 'draft', kind, decisions: true })).toBe('AGENT_CANNOT_DECIDE')
        }
      expect(await codeOf(system, old, { from: 'draft', kind: 'agent' })).toBe('begun')
      await system.settle()
      await inbox.decide(await inbox.only(), ana, { action: 'reject', reason: 'no' })
      await system.settle()
    }
    await system.close()
    expect(paid.every((to) => to === 'bob')).toBe(true)
  })

  test('reruns-2 reruns-3: a run that a decision started accepts no other input, and only a person reruns it (13.1.2)', async () => {
    const { paid, source } = transfers()
    const system = await startTestSystem(source, store())
    const inbox = new Inbox(system)
    await system.send({ type: 'transfer.wanted', data: {} })
    await system.settle()
    await inbox.decide(await inbox.only(), ana, { action: 'approve' })
    await system.settle()
    const runs = await system.run(() =>
      system.store.reader.runs({
        tenant: system.engine.tenant,
        status: null,
        handler: 'hears',
        before: null,
        limit: 9,
      }),
    )
    const [heard] = runs.map(({ id }) => id) as [RunId]
    expect(paid).toEqual(['bob'])
    for (const kind of ['agent', 'service', 'user'] as const)
      expect(await codeOf(system, heard, { kind, input: { to: 'mallory' } })).toBe('FUNCTION_INTERNAL')
    for (const kind of ['agent', 'service'] as const)
      expect(await codeOf(system, heard, { kind })).toBe('AGENT_CANNOT_DECIDE')
    expect(await codeOf(system, heard, { kind: 'user', from: 'note' })).toBe('begun')
    await expect(system.start('follows')).rejects.toMatchObject({ code: 'FUNCTION_INTERNAL' })
    await system.settle()
    expect(paid).toEqual(['bob'])
    await system.close()
  })

  test('decided-steps-1: [Q9] an approval that came as an event covers no other input and no program, and is received once (13.1.2)', async () => {
    const { paid, source } = transfers()
    const system = await startTestSystem(source, store())
    const inbox = new Inbox(system)
    const { runs } = await system.send({ type: 'listen', data: { to: 'bob' } })
    const [old] = runs as [RunId]
    await system.send({ type: 'transfer.wanted', data: {} })
    await system.settle()
    await inbox.decide(await inbox.only(), ana, { action: 'approve' })
    await system.settle()
    expect([(await system.look(old)).status, paid]).toEqual(['success', ['bob', 'bob']])
    for (const kind of ['agent', 'service'] as const)
      for (const from of ['pay', 'note'])
        expect([kind, from, await codeOf(system, old, { from, kind })]).toEqual([kind, from, 'AGENT_CANNOT_DECIDE'])
    for (const intent of [{ from: 'note' }, { from: 'pay' }, { from: 'approval' }, { from: 'draft' }, {}])
      for (const more of [
        { input: { to: 'mallory' } },
        ...(intent.from === 'note' || intent.from === 'pay' ? [] : [{}]),
      ]) {
        const run = await rerun(system, old, { ...intent, ...more, decisions: true })
        await system.settle()
        expect([intent, more, (await system.look(run)).status]).toEqual([intent, more, 'waiting'])
      }
    expect(paid).toEqual(['bob', 'bob'])
    await system.close()
  })
})
