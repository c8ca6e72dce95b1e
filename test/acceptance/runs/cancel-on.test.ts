/** Events that cancel runs: those that match, however late, and nothing else. */
import { expect, test } from 'vitest'
import { fn } from '#executors/workflow/function.ts'
import { human } from '#manifest/human/humans.ts'
import type { CancelSource } from '#model/event/cancel-on.ts'
import type { RunId } from '#model/kernel/ids.ts'
import { Inbox } from '#test/support/serving/inbox.ts'
import { onEveryStore } from '#test/support/stores/stores.ts'
import { startTestSystem, type TestSystem } from '#testing/system.ts'

const EVENTS = { 'order.placed': null, 'order.withdrawn': null }

const ordered = async (system: TestSystem, id: string): Promise<RunId> => {
  const { runs } = await system.send({ type: 'order.placed', data: { id } })
  await system.settle()
  return runs[0] as RunId
}

const withdraw = async (system: TestSystem, data: object): Promise<void> => {
  await system.send({ type: 'order.withdrawn', data })
  await system.settle()
}

onEveryStore('cancel on', (store) => {
  const packing = (cancelOn: readonly CancelSource[], packed: string[] = []) => ({
    name: 'shop',
    events: EVENTS,
    functions: [
      fn<{ readonly id: string }>('pack', { trigger: 'order.placed', cancelOn }, async ({ input, step }) => {
        await step.sleep('glue', '1h')
        await step.run('box', () => void packed.push(input.id))
        return 'packed'
      }),
    ],
  })

  test('[K5] an event cancels the run that it matches, parked and after a crash, and no other', async () => {
    const packed: string[] = []
    const source = packing([{ event: 'order.withdrawn', match: 'payload.id' }], packed)
    const system = await startTestSystem(source, store())
    const [a, b] = [await ordered(system, 'a'), await ordered(system, 'b')]
    await system.crash()
    await withdraw(system, { id: 'a' })
    expect(await system.look(a)).toMatchObject({
      status: 'cancelled',
      error: { code: 'RUN_CANCELLED', message: expect.stringMatching(/^order\.withdrawn came/) },
    })
    await system.advance('2h')
    expect((await system.look(b)).status).toBe('success')
    expect(packed).toEqual(['b'])
    await system.close()
  })

  test('[K5] a rule selects the run, and an event before the run does not count', async () => {
    const condition = 'payload.all == true || payload.id == trigger.id'
    const system = await startTestSystem(packing([{ event: 'order.withdrawn', if: condition }]), store())
    await withdraw(system, { id: 'a', all: false })
    const [a, b, c] = [await ordered(system, 'a'), await ordered(system, 'b'), await ordered(system, 'c')]
    await withdraw(system, { id: 'b', all: false })
    expect([(await system.look(a)).status, (await system.look(b)).status]).toEqual(['waiting', 'cancelled'])
    await withdraw(system, { id: '', all: true })
    expect([(await system.look(a)).status, (await system.look(c)).status]).toEqual(['cancelled', 'cancelled'])
    await system.close()
  })

  test('after its timeout the event cancels nothing', async () => {
    const rule = { event: 'order.withdrawn', match: 'payload.id', timeout: '10m' }
    const system = await startTestSystem(packing([rule]), store())
    const run = await ordered(system, 'a')
    await system.advance('11m')
    await withdraw(system, { id: 'a' })
    await system.advance('1h')
    expect((await system.look(run)).status).toBe('success')
    await system.close()
  })

  test.each([
    ['between_steps', 'the step at work finishes and no other begins', ['begun', 'done']],
    ['abort', 'the step at work is told to stop', ['begun', 'stopped']],
  ] as const)('cancel-on-1, cancel-on-2: %s: %s', async (mode, _, expected) => {
    const seen: string[] = []
    let finish = (): void => {}
    const work = fn(
      'work',
      { trigger: 'order.placed', cancelOn: [{ event: 'order.withdrawn', mode }] },
      async ({ step }) => {
        await step.run('long', async ({ signal }) => {
          seen.push('begun')
          await new Promise<void>((resolve) => {
            finish = resolve
            signal.addEventListener('abort', () => {
              seen.push('stopped')
              resolve()
            })
          })
          if (!signal.aborted) seen.push('done')
        })
        await step.run('next', () => void seen.push('next'))
      },
    )
    const system = await startTestSystem({ name: 'shop', events: EVENTS, functions: [work] }, store())
    const run = await ordered(system, 'a')
    await withdraw(system, {})
    finish()
    await system.settle()
    expect([(await system.look(run)).status, seen]).toEqual(['cancelled', expected])
    await system.close()
  })

  test('[C1] a question to people is withdrawn with the run', async () => {
    const approve = human('approve', {
      trigger: 'order.placed',
      title: 'Ship it?',
      assign: { group: 'editors' },
      cancelOn: [{ event: 'order.withdrawn', match: 'payload.id' }],
    })
    const system = await startTestSystem({ name: 'shop', events: EVENTS, humans: [approve] }, store())
    const inbox = new Inbox(system)
    const run = await ordered(system, 'a')
    const task = await inbox.only()
    await withdraw(system, { id: 'a' })
    expect((await system.look(run)).status).toBe('cancelled')
    expect((await inbox.row(task))?.status).toBe('withdrawn')
    await system.close()
  })
})
