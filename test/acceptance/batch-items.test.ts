/** What a batch says about each of its events, and the next try of those that failed. */
import { expect, test } from 'vitest'
import { fn } from '../../src/executors/workflow/function.ts'
import { LOCAL_TENANT } from '../../src/model/ids.ts'
import { startTestSystem } from '../../src/testing/system.ts'
import { onEveryStore } from '../support/stores.ts'

const retry = { maxAttempts: 3, baseMs: 60_000, factor: 1, maxMs: 60_000 }

onEveryStore('batch items', (store) => {
  /** An item fails as often as it says. */
  const begin = async () => {
    const tries: (readonly string[])[] = []
    const counts = new Map<string, number>()
    const system = await startTestSystem(
      {
        name: 'batches',
        events: { 'mail.wanted': null },
        functions: [
          fn('send', { trigger: 'mail.wanted', batch: { maxSize: 3, maxWait: '5s' }, retry }, ({ events }) => {
            tries.push(events.map(({ id }) => id))
            const items = events.flatMap(({ id, data }) => {
              const count = (counts.get(id) ?? 0) + 1
              counts.set(id, count)
              const { fails } = data as { fails: number }
              // One that is not named has failed.
              return count > fails ? [{ id, status: 'success' }] : []
            })
            return { items }
          }),
        ],
      },
      store(),
    )
    const send = async (id: string, fails: number): Promise<void> => {
      await system.send({ type: 'mail.wanted', id, data: { fails } })
    }
    return { system, tries, send }
  }

  test('[J3][J5] only the items that failed are tried again, in a run of their own, also after a crash', async () => {
    const { system, tries, send } = await begin()
    await send('a', 0)
    await send('b', 1)
    await send('c', 9)
    await system.settle()
    expect(tries).toEqual([['a', 'b', 'c']])
    await system.crash()
    await system.advance('5m')
    expect(tries).toEqual([['a', 'b', 'c'], ['b', 'c'], ['c']])
    const counts = await system.store.reader.counts(LOCAL_TENANT)
    expect([counts.get('partial'), counts.get('failed')]).toEqual([2, 1])
    await system.close()
  })

  test('[J3] a batch whose items are all well is a success and comes once', async () => {
    const { system, tries, send } = await begin()
    await send('a', 0)
    await system.advance('1h')
    expect(tries).toEqual([['a']])
    expect((await system.store.reader.counts(LOCAL_TENANT)).get('success')).toBe(1)
    await system.close()
  })
})
