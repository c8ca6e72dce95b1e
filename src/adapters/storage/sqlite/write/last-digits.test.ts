/** Search for a run by its last digits among more runs than one slice holds. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { loadDriver } from '#adapters/storage/sqlite/driver.ts'
import { type OpenedSqlite, openSqlite } from '#adapters/storage/sqlite/open.ts'
import { LOCAL_TENANT, runId } from '#model/kernel/ids.ts'

/** Three slices, the last of them not full. */
const RUNS = 45_000
/** Each ending but one belongs to two runs, one of them much older. */
const OLDER = 30_000
const ALONE = RUNS - OLDER + 1

/** The n-th run: it has the same ending as the run OLDER places before. */
const id = (n: string): string => `printf('%012x7000800000%010x', 1700000000000 + ${n}, (${n} - 1) % ${OLDER} + 1)`
const FILL = `insert into stream (id, kind, tenant, handler, system_hash, base, version, epoch, signal, head_hash, status, recoveries, created_at)
  with recursive n(i) as (select 1 union all select i + 1 from n where i < ${RUNS})
  select unhex(${id('i')}), 0, '${LOCAL_TENANT}', 'h', '', 0, 1, 0, 0, '', 'success', 0, i from n`

const run = (n: number) =>
  runId(
    `${(1_700_000_000_000 + n).toString(16).padStart(12, '0')}7000800000${(((n - 1) % OLDER) + 1).toString(16).padStart(10, '0')}`,
  )

let directory: string
let opened: OpenedSqlite

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'trihand-digits-'))
  const file = join(directory, 'ledger.db')
  await (await openSqlite({ file })).ledger.close()
  const driver = await loadDriver()
  const db = new driver(file, { timeout: 0 })
  db.exec(FILL)
  db.close()
  opened = await openSqlite({ file })
})

afterAll(async () => {
  await opened.ledger.close()
  rmSync(directory, { recursive: true })
})

test('a run in the last slice is found, and so are two runs with one ending in different slices', async () => {
  const { reader } = opened
  expect(await reader.runsEndingWith(LOCAL_TENANT, run(ALONE).slice(-8))).toEqual([run(ALONE)])
  expect(await reader.runsEndingWith(LOCAL_TENANT, run(1).slice(-8))).toEqual([run(1 + OLDER), run(1)])
  expect(await reader.runsEndingWith(LOCAL_TENANT, 'ffffffff')).toEqual([])
})

test('other work runs between two slices', async () => {
  let turns = 0
  let isOver = false
  const count = (): void => {
    turns += 1
    if (!isOver) setImmediate(count)
  }
  setImmediate(count)
  await opened.reader.runsEndingWith(LOCAL_TENANT, 'ffffffff')
  isOver = true
  expect(turns).toBeGreaterThanOrEqual(2)
})
