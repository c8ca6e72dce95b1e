/** The states of entities under concurrent moves: a checked move starts from the state on which it was judged, or it is refused. */
import { expect, test } from 'vitest'
import { fn } from '#executors/workflow/function.ts'
import type { SystemSource } from '#manifest/define/define.ts'
import { LOCAL_TENANT } from '#model/kernel/ids.ts'
import { onEveryStore } from '#test/support/stores/stores.ts'
import { startTestSystem, type TestStore, type TestSystem } from '#testing/system.ts'

const ORDERS = {
  entity: 'order',
  key: 'payload.id',
  initial: 'new',
  states: [
    { name: 'new', transitionsTo: ['paid', 'void'] },
    { name: 'paid', transitionsTo: ['sent'] },
    { name: 'void', terminal: true },
    { name: 'sent', terminal: true },
  ],
}

/** Releases all runs once this many have arrived: by then all have read the state, and none has moved. */
const meeting = (size: number): (() => Promise<void>) => {
  let [count, open] = [0, (): void => {}]
  const all = new Promise<void>((resolve) => {
    open = resolve
  })
  return () => {
    if (++count === size) open()
    return all
  }
}

const begin = (source: Partial<SystemSource>, enforce: 'strict' | 'warn' | 'off', store: TestStore) =>
  startTestSystem({ name: 'orders', stateMachines: [{ ...ORDERS, enforce }], ...source }, store)

const stateOf = async (system: TestSystem, key: string) =>
  (await system.run(() => system.store.reader.document(LOCAL_TENANT, 'state:order', key))) as {
    readonly state: string
    readonly version: number
  } | null

const race = async (system: TestSystem, names: readonly string[]) => {
  const runs = await Promise.all(names.map((name) => system.start(name, { id: '7' })))
  await system.settle()
  return Promise.all(
    runs.map(async (run) => {
      const { status, error } = await system.look(run)
      return status === 'success' ? 'done' : error?.code
    }),
  )
}

onEveryStore('entities', (store) => {
  test('declared-3: of two concurrent events that move an entity from the same state, one succeeds', async () => {
    const meet = meeting(2)
    const mover = (name: string, stateOut: string) => fn(name, { stateIn: 'new', stateOut }, meet)
    const system = await begin({ functions: [mover('pay', 'paid'), mover('revoke', 'void')] }, 'strict', store())
    const ends = await race(system, ['pay', 'revoke'])
    expect([...ends].sort()).toEqual(['STATE_TRANSITION_INVALID', 'done'])
    expect(await stateOf(system, '7')).toMatchObject({ state: ends[0] === 'done' ? 'paid' : 'void', version: 1 })
    await system.close()
  })

  test('entity-move-2: [G4] of forty concurrent moves of one entity, each to a different state, all succeed (14.2)', async () => {
    const meet = meeting(40)
    const names = Array.from({ length: 40 }, (_, n) => `s${n}`)
    const states = ['new', ...names].map((name) => ({ name, transitionsTo: names.filter((other) => other !== name) }))
    const system = await startTestSystem(
      {
        name: 'places',
        stateMachines: [{ ...ORDERS, states, enforce: 'strict' }],
        functions: names.map((name) => fn(`to-${name}`, { stateOut: name }, meet)),
      },
      store(),
    )
    const ends = await race(
      system,
      names.map((name) => `to-${name}`),
    )
    expect(new Set(ends)).toEqual(new Set(['done']))
    expect(await stateOf(system, '7')).toMatchObject({ version: 40 })
    await system.close()
  })

  test('entity-move-1: of twelve runs that pay one order at once, one has paid, and one move is reported', async () => {
    const meet = meeting(12)
    const heard: unknown[] = []
    const system = await begin(
      {
        functions: [
          fn('pay', { stateIn: 'new', stateOut: 'paid' }, meet),
          fn('hear', { trigger: 'trihand.state.moved' }, ({ event }) => {
            heard.push(event?.data)
          }),
        ],
      },
      'strict',
      store(),
    )
    const ends = await race(system, Array<string>(12).fill('pay'))
    expect(ends.filter((end) => end === 'done')).toHaveLength(1)
    expect(ends.filter((end) => end === 'STATE_TRANSITION_INVALID')).toHaveLength(11)
    expect(heard).toMatchObject([{ entity: 'order', key: '7', from: 'new', to: 'paid', version: 1, handler: 'pay' }])
    await system.close()
  })

  test("a move that is still valid from the entity's new state is made from there", async () => {
    const meet = meeting(2)
    const system = await begin(
      {
        functions: [
          fn('pay', { stateIn: 'new', stateOut: 'paid' }, async ({ step }) => {
            await step.run('meet', meet)
          }),
          // Sent whatever its state, if the machine permits: it waits until the other has paid.
          fn('send', { stateOut: 'sent' }, async ({ step }) => {
            await step.run('meet', meet)
            await step.waitForEvent('paid', { event: 'trihand.state.moved', lookback: 'run' })
          }),
        ],
      },
      'strict',
      store(),
    )
    expect(await race(system, ['pay', 'send'])).toEqual(['done', 'done'])
    expect(await stateOf(system, '7')).toMatchObject({ state: 'sent', version: 2 })
    await system.close()
  })

  test('if moves are only noted, the second of two is noted and the entity stays in the state of the first', async () => {
    const meet = meeting(2)
    const mover = (name: string, stateOut: string) => fn(name, { stateIn: 'new', stateOut }, meet)
    const system = await begin({ functions: [mover('pay', 'paid'), mover('revoke', 'void')] }, 'warn', store())
    expect(await race(system, ['pay', 'revoke'])).toEqual(['done', 'done'])
    expect(await stateOf(system, '7')).toMatchObject({ version: 1 })
    await system.close()
  })
})
