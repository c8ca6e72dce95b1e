/** Real ids: format and order, and the digest against a known value. */
import { expect, test } from 'vitest'
import { isRunId, runId } from '#model/kernel/ids.ts'
import { SystemIds } from './ids.ts'

const ids = new SystemIds()

test('a uuid is version 7, as 32 hex digits', () => {
  const uuid = ids.uuid()
  expect(uuid).toMatch(/^[0-9a-f]{12}7[0-9a-f]{3}[89ab][0-9a-f]{15}$/)
  expect(isRunId(runId(uuid))).toBe(true)
  expect(Math.abs(Number.parseInt(uuid.slice(0, 12), 16) - Date.now())).toBeLessThan(1000)
})

test('uuids increase, also within one millisecond', () => {
  const drawn = Array.from({ length: 10_000 }, () => ids.uuid())
  expect(drawn).toEqual([...new Set(drawn)].sort())
})

test('a roll is in [0, 1) and differs from the next', () => {
  const rolls = Array.from({ length: 100 }, () => ids.roll())
  expect(rolls.every((roll) => roll >= 0 && roll < 1)).toBe(true)
  expect(new Set(rolls).size).toBeGreaterThan(90)
})

test('a digest is sha256 in base64url without padding, of the UTF-8 text', () => {
  expect(ids.digest('')).toBe('47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU')
  expect(ids.digest('Grüße 🜁')).toBe(ids.digest('Gr\u00fc\u00dfe \ud83d\udf01'))
  expect(ids.digest('a')).not.toBe(ids.digest('b'))
})
