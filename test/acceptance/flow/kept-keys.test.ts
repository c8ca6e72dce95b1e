/** Idempotency keys that a gate keeps for a long time: looked up by key, whatever happened to the gate meanwhile. */
import { expect, test } from 'vitest'
import { type FunctionOptions, fn } from '#executors/workflow/function.ts'
import type { SystemSource } from '#manifest/define/define.ts'
import { KEPT_TABLE } from '#model/flow/kept-claims.ts'
import { LOCAL_TENANT } from '#model/kernel/ids.ts'
import type { Json } from '#model/kernel/json.ts'
import { onEveryStore } from '#test/support/stores/stores.ts'
import { startTestSystem, type TestSystem } from '#testing/system.ts'

/** More facts than a gate has between two checkpoints. */
const MANY = 150

onEveryStore('kept keys', (store) => {
  const begin = async (options: Partial<FunctionOptions<Json>>) => {
    const seen: Json[] = []
    const sourceWith = (given: Partial<FunctionOptions<Json>>): SystemSource => ({
      name: 'keys',
      events: { 'order.placed': null },
      functions: [
        fn<Json>('pay', { trigger: 'order.placed', retry: { maxAttempts: 1 }, ...given }, async ({ input, step }) => {
          const { id, fails } = input as { id: string; fails?: boolean }
          await step.run('note', () => void seen.push(id))
          if (fails === true) throw new Error('no luck')
        }),
      ],
    })
    return { system: await startTestSystem(sourceWith(options), store()), seen, sourceWith }
  }

  const startMany = (system: TestSystem, from: number, count = MANY) =>
    system.run(() =>
      Promise.all(Array.from({ length: count }, (_, i) => system.engine.startRun('pay', { id: `k${from + i}` }))),
    )

  const keptKeys = ({ store: { reader } }: TestSystem) =>
    reader.documents({ tenant: LOCAL_TENANT, table: KEPT_TABLE, after: null, limit: 10_000 })

  /** Long enough that the gate is loaded anew, with nothing of it in memory. */
  const later = async (system: TestSystem) => {
    await system.settle()
    await system.advance('5s')
  }

  const checkpoints = async (system: TestSystem, from: number) => {
    await startMany(system, from)
    await later(system)
    await startMany(system, from + MANY)
    await later(system)
  }

  test('[L10] kept-claims-1: a key that has left the state of its gate is still held against calls and events, after a crash (14.4.4)', async () => {
    const { system, seen } = await begin({ idempotency: { key: 'payload.id' } })
    const first = await system.start('pay', { id: 'a' })
    await later(system)
    await checkpoints(system, 0)
    expect((await keptKeys(system)).length).toBeGreaterThan(MANY)
    await system.crash()
    expect(await system.start('pay', { id: 'a' })).toBe(first)
    await system.send({ type: 'order.placed', data: { id: 'a' } })
    await system.send({ type: 'order.placed', data: { id: 'k3' } })
    await later(system)
    expect(seen.filter((id) => id === 'a' || id === 'k3')).toEqual(['a', 'k3'])
    await system.close()
  })

  test('[L10] a kept key is free when its time is over, and its document is deleted (14.4.4)', async () => {
    const { system, seen } = await begin({ idempotency: { key: 'payload.id', ttl: '1h' } })
    const first = await system.start('pay', { id: 'a' })
    await later(system)
    await checkpoints(system, 0)
    await system.advance('59m')
    expect(await system.start('pay', { id: 'a' })).toBe(first)
    await system.advance('2m')
    expect(await system.start('pay', { id: 'a' })).not.toBe(first)
    await later(system)
    expect(seen.filter((id) => id === 'a')).toEqual(['a', 'a'])
    const before = (await keptKeys(system)).length
    for (let round = 1; round < 5; round++) await checkpoints(system, round * 1_000)
    expect((await keptKeys(system)).length).toBeLessThan(before + 4 * 2 * MANY)
    await system.close()
  })

  test('[L10] a failed run is not retried while a kept key says that another run has succeeded (14.4.4)', async () => {
    const { system, seen } = await begin({ idempotency: { key: 'payload.id' } })
    const failed = await system.start('pay', { id: 'a', fails: true })
    await later(system)
    await system.start('pay', { id: 'a' })
    await later(system)
    await checkpoints(system, 0)
    await expect(system.run(() => system.engine.retry(failed, 'ana'))).rejects.toMatchObject({ code: 'RUN_EXISTS' })
    expect(seen.filter((id) => id === 'a')).toEqual(['a', 'a'])
    await system.close()
  })

  test('[L10] a key that another run took over and released does not return to the run that had it first (14.4.4)', async () => {
    const { system, seen, sourceWith } = await begin({ idempotency: { key: 'payload.id', onConflict: 'replace' } })
    const first = await system.start('pay', { id: 'a' })
    await later(system)
    await checkpoints(system, 0)
    const second = await system.start('pay', { id: 'a', fails: true })
    await later(system)
    expect((await system.look(second)).status).toBe('failed')
    await checkpoints(system, 1_000)
    await system.crash(sourceWith({ idempotency: { key: 'payload.id' } }))
    const again = await system.start('pay', { id: 'a' })
    expect(again).not.toBe(first)
    await later(system)
    expect(seen.filter((id) => id === 'a')).toEqual(['a', 'a', 'a'])
    expect((await system.look(again)).status).toBe('success')
    await system.close()
  })
})
