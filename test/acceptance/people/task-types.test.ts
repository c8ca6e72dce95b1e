/** What a person is offered by the type of a task, and what the run receives. */
import { expect, test } from 'vitest'
import { fn } from '#executors/workflow/function.ts'
import { ana, Inbox } from '#test/support/serving/inbox.ts'
import { onEveryStore } from '#test/support/stores/stores.ts'
import { startTestSystem } from '#testing/system.ts'

onEveryStore('types of tasks', (store) => {
  test.each([
    ['approval', ['approve', 'reject', 'reassign'], { action: 'approve' }, 'approved'],
    ['review', ['approve', 'request_edit', 'reject', 'reassign'], { action: 'reject', reason: 'too long' }, 'rejected'],
    ['input', ['respond', 'reassign'], { action: 'respond', fields: { amount: 7 } }, 'completed'],
    ['decision', ['respond', 'reassign'], { action: 'respond', reason: 'the cheaper one' }, 'completed'],
  ] as const)('[C4] a task of type %s offers its own actions, and ends as it was decided (15.4.2)', async (...row) => {
    const [taskType, actions, decision, status] = row
    const ask = fn('ask', {}, ({ step }) => step.human('asked', { taskType, assign: 'user:ana' }))
    const system = await startTestSystem({ name: 'types', functions: [ask] }, store())
    const inbox = new Inbox(system)
    const run = await system.start('ask')
    await system.settle()
    const task = await inbox.only()
    const { state } = await system.run(() => system.engine.tasks.show(task))
    expect(state.kind === 'open' && state.spec.actions.map(({ name }) => name)).toEqual(actions)
    await inbox.decide(task, ana, decision)
    await system.settle()
    expect(await inbox.row(task)).toMatchObject({ type: taskType, status })
    expect(await system.look(run)).toMatchObject({
      status: 'success',
      output: { decidedBy: 'ana' },
    })
    await system.close()
  })
})
