/** Outgoing notifications: sent once an event is stored, retried on a ladder, through crashes, until accepted or refused for good. */
import { expect, test } from 'vitest'
import { fn } from '#executors/workflow/function.ts'
import { noticeFunctions } from '#executors/workflow/notices.ts'
import type { SystemSource } from '#manifest/define/define.ts'
import { human } from '#manifest/human/humans.ts'
import type { StoredEvent } from '#model/event/event.ts'
import { LOCAL_TENANT } from '#model/kernel/ids.ts'
import type { NoticeDelivery } from '#ports/notifier.ts'
import { onEveryStore } from '#test/support/stores/stores.ts'
import { startTestSystem, type TestStore } from '#testing/system.ts'

const FAILED: NoticeDelivery = { kind: 'failed', detail: '503' }
const DELIVERED: NoticeDelivery = { kind: 'delivered', detail: '200' }
/** The middle of every rung. */
const ROLL = 0.5
const HOUR = 3_600_000

const open = async (place: TestStore, answers: readonly NoticeDelivery[]) => {
  const tries: { readonly id: string; readonly at: number }[] = []
  let now = (): number => 0
  const notifier = {
    deliverNotice: async ({ id }: { readonly id: string }): Promise<NoticeDelivery> => {
      tries.push({ id, at: now() })
      return answers[tries.length - 1] ?? FAILED
    },
  }
  const source: SystemSource = {
    name: 'shop',
    events: { paid: null },
    functions: noticeFunctions([{ name: 'tell-books', events: ['paid'], notifier }], () => ROLL),
  }
  const system = await startTestSystem(source, place)
  const start = system.clock.now()
  now = () => system.clock.now() - start
  const runs = () =>
    system.store.reader.runs({ tenant: LOCAL_TENANT, status: null, handler: 'tell-books', before: null, limit: 10 })
  return { system, tries, runs }
}

onEveryStore('notices', (store) => {
  test('a notification is sent at once, and never again once it was accepted', async () => {
    const { system, tries, runs } = await open(store(), [DELIVERED])
    await system.send({ type: 'paid', data: { order: 'o-1' } })
    await system.advance('5d')
    expect(tries).toMatchObject([{ at: 0 }])
    expect(await runs()).toMatchObject([{ status: 'success' }])
    await system.close()
  })

  test('a failing receiver is tried ten times over three days, with one id, and then the run has failed', async () => {
    const { system, tries, runs } = await open(store(), [])
    await system.send({ type: 'paid', data: { order: 'o-1' } })
    await system.advance('6d')
    const rungs = [0, 5_000, 300_000, HOUR / 2, 2 * HOUR, 5 * HOUR, 10 * HOUR, 14 * HOUR, 20 * HOUR, 24 * HOUR]
    expect(tries.map(({ at }, i) => at - (tries[i - 1]?.at ?? 0))).toEqual(rungs)
    expect(new Set(tries.map(({ id }) => id)).size).toBe(1)
    expect(await runs()).toMatchObject([{ status: 'failed' }])
    await system.close()
  })

  test('a receiver that refuses for good is not tried again', async () => {
    const { system, tries, runs } = await open(store(), [FAILED, { kind: 'unwanted', detail: '410' }])
    await system.send({ type: 'paid', data: { order: 'o-1' } })
    await system.advance('6d')
    expect(tries).toHaveLength(2)
    expect(await runs()).toMatchObject([{ status: 'success' }])
    await system.close()
  })

  test('a crash between two tries loses none and repeats none', async () => {
    const { system, tries, runs } = await open(store(), [FAILED, FAILED, DELIVERED])
    await system.send({ type: 'paid', data: { order: 'o-1' } })
    await system.settle()
    await system.crash()
    await system.advance('10s')
    await system.crash(undefined, { down: '1h' })
    await system.advance('1h')
    expect(tries).toHaveLength(3)
    expect(await runs()).toMatchObject([{ status: 'success' }])
    await system.close()
  })

  test('two routes that report finished work do not report each other', async () => {
    const heard: string[] = []
    const to = (name: string) => ({
      name: `notify-${name}`,
      events: ['workflow.completed'],
      notifier: {
        deliverNotice: async ({ source }: StoredEvent): Promise<NoticeDelivery> => {
          heard.push(`${name}: ${source}`)
          return DELIVERED
        },
      },
    })
    const functions = [
      fn('pack', { trigger: 'paid' }, async () => 'packed'),
      ...noticeFunctions([to('a'), to('b')], () => ROLL),
    ]
    const system = await startTestSystem({ name: 'shop', events: { paid: null }, functions }, store())
    await system.send({ type: 'paid', data: {} })
    await system.advance('1h')
    expect(heard.toSorted()).toEqual(['a: workflow:pack', 'b: workflow:pack'])
    await system.close()
  })

  test('[C15] an assigned person is notified, is reminded, and is notified when the task is overdue', async () => {
    const heard: StoredEvent[] = []
    const notifier = {
      deliverNotice: async (event: StoredEvent): Promise<NoticeDelivery> => {
        heard.push(event)
        return DELIVERED
      },
    }
    const events = ['human.assigned', 'human.reminded', 'human.timed_out']
    const options = { trigger: 'asked', assign: 'ana@example.org', deadline: '2h', reminders: ['1h'] }
    const source: SystemSource = {
      name: 'asking',
      events: { asked: null },
      humans: [human('approve-it', options)],
      functions: noticeFunctions([{ name: 'tell-people', events, notifier }], () => ROLL),
    }
    const system = await startTestSystem(source, store())
    await system.send({ type: 'asked', data: {} })
    await system.advance('3h')
    expect(heard.map(({ type }) => type)).toEqual(events)
    const asked = {
      task_id: heard[0]?.subject,
      handler: 'approve-it',
      assignees: { users: ['ana@example.org'], groups: [] },
    }
    for (const { data } of heard) expect(data).toMatchObject(asked)
    await system.close()
  })
})
