/** Lists of keys, and the seals that are made with them. */
import { expect, test } from 'vitest'
import { KeyedSeals } from './keyed-seals.ts'
import { type Key, readKeys } from './keys.ts'

const NAME = 'TRIHAND_SEAL_KEY'
const [OLD, NEW] = ['o'.repeat(32), 'n'.repeat(32)]
const sealsOf = (text: string): KeyedSeals => new KeyedSeals(readKeys(NAME, text) as [Key, ...Key[]])
const EVENT = { tenant: 'acme', source: 'web', id: 'e1', type: 'order' }

test('seal-2: with a key, a seal is valid only if one of the keys has made it', () => {
  const seal = sealsOf(OLD).seal('a text')
  expect(sealsOf(OLD).checkSeal(seal, 'a text')).toBe('fits')
  expect(sealsOf(OLD).checkSeal(seal, 'another')).toBe('broken')
  expect(sealsOf(NEW).checkSeal(seal, 'a text')).toBe('key_missing')
  expect(sealsOf(OLD).checkSeal('plain', 'a text')).toBe('unkeyed')
})

test('the first key of a list seals, and all of them verify', () => {
  const both = sealsOf(`${NEW}, ${OLD}`)
  expect(both.checkSeal(sealsOf(OLD).seal('a text'), 'a text')).toBe('fits')
  expect(sealsOf(NEW).checkSeal(both.seal('a text'), 'a text')).toBe('fits')
})

test('the seal of an event is valid for its identity only', () => {
  const seals = sealsOf(OLD)
  const seal = seals.sealEvent(EVENT, '{}')
  expect(seals.checkEventSeal(seal, EVENT, '{}')).toBe('fits')
  for (const other of [{ tenant: 'other' }, { source: 'app' }, { id: 'e2' }, { type: 'refund' }])
    expect(seals.checkEventSeal(seal, { ...EVENT, ...other }, '{}')).toBe('broken')
})

test('a short or repeated key is refused, and empty text means no keys', () => {
  expect(() => readKeys(NAME, 'short')).toThrow('at least 32 characters')
  expect(() => readKeys(NAME, `${OLD},`)).toThrow('at least 32 characters')
  expect(() => readKeys(NAME, `${OLD},${OLD}`)).toThrow('twice')
  expect([undefined, '', ' '].map((text) => readKeys(NAME, text))).toEqual([[], [], []])
})
