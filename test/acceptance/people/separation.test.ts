/** The person who decided one step may not decide the next: across humans that are joined by an event. */
import { expect, test } from 'vitest'
import { fn } from '#executors/workflow/function.ts'
import { human } from '#manifest/human/humans.ts'
import { ana, bob, Inbox } from '#test/support/serving/inbox.ts'
import { onEveryStore } from '#test/support/stores/stores.ts'
import { startTestSystem } from '#testing/system.ts'

const SYSTEM = {
  name: 'two-eyes-more',
  events: { drafted: null },
  humans: [
    human('check', { trigger: 'drafted', assign: 'group:editors', actions: [{ name: 'approve', emits: 'checked' }] }),
    human('release', { triggers: ['checked'], assign: 'group:editors', separation: ['check'] }),
  ],
}

onEveryStore('separation of duties', (store) => {
  test('[C5] the person who checked it may not release it, and anyone else may', async () => {
    const system = await startTestSystem(SYSTEM, store())
    const inbox = new Inbox(system)
    await system.send({ type: 'drafted', data: {} })
    await system.settle()
    await inbox.decide(await inbox.only(), ana, { action: 'approve' })
    await system.settle()
    const release = await inbox.only()
    await expect(inbox.decide(release, ana, { action: 'approve' })).rejects.toThrow('SEPARATION_OF_DUTIES')
    await inbox.decide(release, bob, { action: 'approve' })
    expect(await inbox.row(release)).toMatchObject({ isOpen: false, status: 'approved' })
    await system.close()
  })

  test('[C5] in one function, a step excludes the people who decided the steps that it names, and no others', async () => {
    const twice = (separation: readonly string[]) =>
      fn('publish', {}, async ({ step }) => {
        await step.human('check', { assign: 'group:editors' })
        return (await step.human('release', { assign: 'group:editors', separation })).decidedBy
      })
    const system = await startTestSystem({ name: 'publishing', functions: [twice(['check'])] }, store())
    const inbox = new Inbox(system)
    const run = await system.start('publish')
    await system.settle()
    await inbox.decide(await inbox.only(), ana, { action: 'approve' })
    await system.settle()
    const release = await inbox.only()
    await expect(inbox.decide(release, ana, { action: 'approve' })).rejects.toThrow('SEPARATION_OF_DUTIES')
    await inbox.decide(release, bob, { action: 'approve' })
    await system.settle()
    expect(await system.look(run)).toMatchObject({ status: 'success', output: 'bob' })
    await system.close()
  })

  test('[C5] a step that names a step without a decision fails without asking anyone', async () => {
    const lone = fn('publish', { retry: { maxAttempts: 1 } }, async ({ step }) => {
      await step.human('release', { assign: 'group:editors', separation: ['chek'] })
    })
    const system = await startTestSystem({ name: 'publishing', functions: [lone] }, store())
    const run = await system.start('publish')
    await system.settle()
    expect(await system.look(run)).toMatchObject({ status: 'failed', error: { code: 'SEPARATION_OF_DUTIES' } })
    await system.close()
  })

  test('[C5] if it is not known who checked it, nobody is asked', async () => {
    const events = { drafted: null, checked: { open: true } }
    const system = await startTestSystem({ ...SYSTEM, events }, store())
    const inbox = new Inbox(system)
    await system.send({ type: 'checked', data: { decided_by: 'bob' } })
    await system.settle()
    expect(await inbox.list()).toEqual([])
    await system.close()
  })
})
