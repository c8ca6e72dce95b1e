/** A server that is killed in the middle of requests with keys: a part of it in `npm test`, 60 lives with 720 requests in the stage `many`. */
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { killAndRepeat } from '#test/chaos/keyed/client.ts'
import { fastFolder } from '#test/support/places.ts'
import { Random } from '#test/support/random.ts'
import { freshSchema } from '#test/support/stores/postgres-schema.ts'
import { SMALL_SEED } from './expect-passed.ts'
import { sized } from './whole.ts'

const LIVES = sized({ whole: 60, part: 4 })
const PER_LIFE = 12
const LEASE_TTL_MS = 1_000
const GIVE_UP_MS = sized({ whole: 3_600_000, part: 120_000 })

const play = async (database: string): Promise<void> => {
  const random = new Random(SMALL_SEED)
  const life = { lives: LIVES, perLife: PER_LIFE, random }
  const { sent, cut, faults } = await killAndRepeat({ database, leaseTtlMs: LEASE_TTL_MS }, life)
  expect(faults).toEqual([])
  expect(sent).toBe(LIVES * PER_LIFE)
  // The control: if no request was cut off, the test has shown nothing.
  expect(cut).toBeGreaterThan(0)
}

test(
  '[R1][L2] a server on SQLite that is killed in the middle of keyed requests answers each with what was done, once (14.6)',
  async () => {
    const folder = fastFolder('keyed-kills')
    await play(join(folder.path, 'ledger.db')).finally(() => folder.remove())
  },
  GIVE_UP_MS,
)

test.skipIf(process.env['TRIHAND_TEST_PG_URL'] === undefined)(
  '[R1][L2] a server on Postgres that is killed in the middle of keyed requests answers each with what was done, once (14.6)',
  async () => {
    const { url, drop } = await freshSchema(process.env['TRIHAND_TEST_PG_URL'] ?? '')
    await play(url).finally(drop)
  },
  GIVE_UP_MS,
)
