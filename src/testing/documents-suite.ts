/**
 * What every store does with documents: rows of managed tables, written with an append, read and listed by a Reader.
 *
 * Part of the reader suite, because only a Reader can see what the ledger wrote.
 */
import { expect, test } from 'vitest'
import { LOCAL_TENANT, type RunId, type TenantId } from '#model/kernel/ids.ts'
import type { DocumentWrite, Ledger } from '#ports/ledger.ts'
import type { Reader } from '#ports/reader.ts'
import { anAppend, aWrite } from '#testing/ledger/builders.ts'
import type { LedgerHarness } from '#testing/ledger/harness.ts'

const OTHER_TENANT = 'other' as TenantId

export const documentsSuite = (harness: LedgerHarness, reader: () => Reader): void => {
  const aDocument = (document: Partial<DocumentWrite> = {}): DocumentWrite => ({
    tenant: LOCAL_TENANT,
    table: 'customer',
    key: 'ana',
    value: { name: 'Ana' },
    ...document,
  })
  const found = (key = 'ana', table = 'customer', tenant = LOCAL_TENANT) => reader().document(tenant, table, key)
  const put = async (ledger: Ledger, run: RunId, expectedVersion: number, ...list: readonly DocumentWrite[]) => {
    const append = anAppend({ writes: [aWrite(run, { expectedVersion })], documents: list })
    const [outcome] = await ledger.append([append])
    return { append, outcome }
  }

  test('[R7] a document is written with its fact, replaced and deleted', async () => {
    const run = await harness.createHeldRun()
    expect(await found()).toBeNull()
    await put(harness.ledger, run, 1, aDocument({ value: { name: 'Ana', tags: ['\u0000', 'ü', 1.5] } }))
    expect(await found()).toEqual({ name: 'Ana', tags: ['\u0000', 'ü', 1.5] })
    await put(harness.ledger, run, 2, aDocument({ value: 'replaced' }))
    expect(await found()).toBe('replaced')
    await put(harness.ledger, run, 3, aDocument({ value: null }))
    expect(await found()).toBeNull()
    await put(harness.ledger, run, 4, aDocument({ value: null }))
    expect(await found()).toBeNull()
  })

  test('documents of one append are written in order, and the last one of a key remains', async () => {
    const run = await harness.createHeldRun()
    await put(
      harness.ledger,
      run,
      1,
      aDocument({ value: 1 }),
      aDocument({ value: 2 }),
      aDocument({ key: 'bo', value: 3 }),
      aDocument({ value: 4 }),
    )
    expect([await found(), await found('bo')]).toEqual([4, 3])
    await put(harness.ledger, run, 2, aDocument({ value: 5 }), aDocument({ value: null }))
    expect(await found()).toBeNull()
    await put(harness.ledger, run, 3, aDocument({ value: null }), aDocument({ value: 6 }))
    expect(await found()).toBe(6)
  })

  test('[R7][V16] a refused append writes no document', async () => {
    const run = await harness.createHeldRun()
    const { outcome } = await put(harness.ledger, run, 9, aDocument())
    expect(outcome?.kind).toBe('conflict')
    expect(await found()).toBeNull()
  })

  test('[R7] a repeated append does not bring an old document back', async () => {
    const run = await harness.createHeldRun()
    const { append } = await put(harness.ledger, run, 1, aDocument({ value: 'old' }))
    await put(harness.ledger, run, 2, aDocument({ value: 'new' }))
    expect(await harness.ledger.append([append])).toMatchObject([{ kind: 'already_written' }])
    expect(await found()).toBe('new')
  })

  test('documents are separate by table, key and tenant', async () => {
    const run = await harness.createHeldRun()
    await put(
      harness.ledger,
      run,
      1,
      aDocument({ value: 1 }),
      aDocument({ table: 'order', value: 2 }),
      aDocument({ key: 'bo', value: 3 }),
      aDocument({ tenant: OTHER_TENANT, value: 4 }),
    )
    const all = [
      await found(),
      await found('ana', 'order'),
      await found('bo'),
      await found('ana', 'customer', OTHER_TENANT),
    ]
    expect(all).toEqual([1, 2, 3, 4])
    expect(await found('bo', 'order')).toBeNull()
  })

  test('the documents of a table are listed by key, page by page, and no others', async () => {
    const run = await harness.createHeldRun()
    const keys = ['b', 'B', 'a', 'ab']
    const others = [aDocument({ table: 'order', key: 'a2' }), aDocument({ tenant: OTHER_TENANT, key: 'a1' })]
    await put(harness.ledger, run, 1, ...keys.map((key) => aDocument({ key, value: { key } })), ...others)
    const page = (after: string | null, limit: number) =>
      reader().documents({ tenant: LOCAL_TENANT, table: 'customer', after, limit })
    expect(await page(null, 3)).toEqual(['B', 'a', 'ab'].map((key) => ({ key, value: { key } })))
    expect(await page('ab', 3)).toEqual([{ key: 'b', value: { key: 'b' } }])
    expect(await page('b', 3)).toEqual([])
  })

  test('documents of many appends in one batch are all written', async () => {
    const held: RunId[] = []
    for (let i = 0; i < 8; i++) held.push(await harness.createHeldRun())
    const batch = held.map((run, i) =>
      anAppend({ writes: [aWrite(run)], documents: [aDocument({ key: `k${i}`, value: i })] }),
    )
    await harness.ledger.append(batch)
    expect(await Promise.all(held.map((_, i) => found(`k${i}`)))).toEqual(held.map((_, i) => i))
  })
}
