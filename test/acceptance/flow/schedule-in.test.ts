/** A schedule of a manifest with `in`: runs once, this long after a ledger first stores it. */
import { expect, test } from 'vitest'
import { systemOf } from '#test/support/manifest/manifest-system.ts'
import { onEveryStore } from '#test/support/stores/stores.ts'
import { startTestSystem } from '#testing/system.ts'

const text = (delay: string): string => `
product: {name: shop}
functions: [{name: greet, trigger: {in: ${delay}}}]
events: []
`

onEveryStore('schedules that say in', (store) => {
  test('in: 5m starts its run once, counted from the first start of the system and not from a later one (15.1.3)', async () => {
    const seen: string[] = []
    const source = (delay: string) => systemOf(text(delay), new Map([['greet', () => void seen.push(delay)]]))
    const system = await startTestSystem(source('5m'), store())
    await system.advance('3m')
    await system.crash()
    await system.settle()
    expect(seen).toEqual([])
    await system.advance('119s')
    expect(seen).toEqual([])
    await system.advance('1s')
    expect(seen).toEqual(['5m'])
    await system.crash()
    await system.advance('1h')
    expect(seen).toEqual(['5m'])
    await system.crash(source('10m'))
    await system.advance('9m')
    expect(seen).toEqual(['5m'])
    await system.advance('1m')
    expect(seen).toEqual(['5m', '10m'])
    await system.close()
  })
})
