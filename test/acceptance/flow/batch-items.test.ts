/** What a batch reports about each of its events, and the next try of the items that failed. */
import { expect, test } from 'vitest'
import { fn } from '#executors/workflow/function.ts'
import { LOCAL_TENANT } from '#model/kernel/ids.ts'
import { onEveryStore } from '#test/support/stores/stores.ts'
import { startTestSystem } from '#testing/system.ts'

const retry = { maxAttempts: 3, baseMs: 60_000, factor: 1, maxMs: 60_000 }

onEveryStore('batch items', (store) => {
  /** An item fails as often as its data says. */
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
              // An item that is not named has failed.
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

  test('[J3][J5] only the failed items are tried again, in a run of their own, also after a crash', async () => {
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

  test('[J3] a batch whose items all succeed is a success and runs once', async () => {
    const { system, tries, send } = await begin()
    await send('a', 0)
    await system.advance('1h')
    expect(tries).toEqual([['a']])
    expect((await system.store.reader.counts(LOCAL_TENANT)).get('success')).toBe(1)
    await system.close()
  })

  /** Items are sent under a key of their own; each try notes the events that it received. */
  const beginKeyed = async (fails: Set<string>, tries = retry) => {
    const seen: (readonly string[])[] = []
    const system = await startTestSystem(
      {
        name: 'batches',
        events: { 'mail.wanted': null },
        functions: [
          fn(
            'send',
            {
              trigger: 'mail.wanted',
              idempotency: { key: 'payload.key' },
              batch: { maxSize: 3, maxWait: '5s' },
              retry: tries,
            },
            ({ events }) => {
              seen.push(events.map(({ id }) => id))
              const status = (key: string) => (fails.has(key) ? 'failed' : 'success')
              return { items: events.map(({ id, data }) => ({ id, status: status((data as { key: string }).key) })) }
            },
          ),
        ],
      },
      store(),
    )
    const send = async (...ids: readonly string[]): Promise<void> => {
      for (const id of ids) await system.send({ type: 'mail.wanted', id, data: { key: id.slice(0, 1) } })
      await system.settle()
    }
    return { system, seen, send, fails }
  }

  test('batch-items-1: [J3][L1] an item that waits for its next try holds its key, also after a crash (14.4.2)', async () => {
    const { system, seen, send } = await beginKeyed(new Set(['a', 'b', 'c']))
    await send('a1', 'b1', 'c1')
    expect(seen).toEqual([['a1', 'b1', 'c1']])
    await system.crash()
    await send('b2', 'b3')
    await system.advance('5m')
    const all = ['a1', 'b1', 'c1']
    expect(seen).toEqual([all, all, all])
    await system.close()
  })

  test('batch-items-1: [J3][L1] an item that failed for good releases its key, and successful items keep theirs (14.4.2)', async () => {
    const { system, seen, send, fails } = await beginKeyed(new Set(['b']), { ...retry, maxAttempts: 2 })
    await send('a1', 'b1', 'c1')
    await system.advance('5m')
    expect(seen).toEqual([['a1', 'b1', 'c1'], ['b1']])
    await system.crash()
    fails.clear()
    await send('a2', 'b2', 'c2')
    await system.advance('10s')
    expect(seen.slice(2)).toEqual([['b2']])
    // It has succeeded now, so its key is held again.
    await send('b3')
    await system.advance('5m')
    expect(seen).toHaveLength(3)
    await system.close()
  })

  test('batch-items-1: [J3][L1] a batch without retries releases the keys of the failed items (14.4.2)', async () => {
    const { system, seen, send, fails } = await beginKeyed(new Set(['a', 'b']), { ...retry, maxAttempts: 1 })
    await send('a1', 'b1', 'c1')
    expect(seen).toHaveLength(1)
    fails.clear()
    await send('a2', 'b2', 'c2')
    await system.advance('10s')
    expect(seen.slice(1)).toEqual([['a2', 'b2']])
    await system.close()
  })
})
