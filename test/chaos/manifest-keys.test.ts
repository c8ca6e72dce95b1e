/**
 * Every key of the manifest's schema: two values of it make a visible difference, or a test or a reason is listed for it.
 *
 * A key that is in no table fails the last test, so that no new key is accepted and ignored.
 */
import { describe, expect, test } from 'vitest'
import { HANDLER_PAIRS, type KeyPair, TRIGGER_PAIRS } from '#test/support/manifest/key-pairs.ts'
import { SECTION_PAIRS, WHOLE_PAIRS } from '#test/support/manifest/key-pairs-whole.ts'
import { classOf, manifestKeys, playedKeys } from '#test/support/manifest/manifest-keys.ts'
import { played } from '#test/support/manifest/played-manifest.ts'
import { sized } from './whole.ts'

const EVENTS = 'events: [{name: go, source: external}, {name: stop, source: external}, {name: out}, {name: other}]\n'
const MACHINE =
  'state_machine: {entity: order, key: id, initial: new, enforce: strict, states: [{name: new, transitions_to: [old]}, {name: old, terminal: true}]}\n'
const OTHERS = '{name: echo, trigger: out}, {name: bad, trigger: other, retry: {max_attempts: 1}}'
const HEAD = `product: {name: keys}\n${EVENTS}`
const SHARED = 'limits: {shared: {few: {limit: 2, period: 1h}}}\n'

const textOf = ({ section }: KeyPair, entry: string, isBare: boolean): string => {
  const machine = /state_in/.test(entry) ? MACHINE : ''
  if (section === 'functions') return `${HEAD}${machine}${SHARED}functions: [${entry}${isBare ? '' : `, ${OTHERS}`}]\n`
  return `${HEAD}${machine}${section}: [${entry}]\n`
}

const sectionText = (given: string): string => {
  const lacks = (name: string): boolean => !new RegExp(`^${name}:`, 'm').test(given)
  return `${lacks('product') ? 'product: {name: keys}\n' : ''}${lacks('events') ? EVENTS : ''}${lacks('functions') ? `functions: [{name: h, trigger: go}, {name: echo}, {name: slow}, {name: bad, retry: {max_attempts: 1}}]\n` : ''}${given}\n`
}

const differ = async (one: string, other: string): Promise<void> => {
  const [first, second] = [await played(one), await played(other)]
  expect(first === second ? 'the same, whatever the key says' : 'different').toBe('different')
}

/** A part of the pairs in `npm test`, all of them in the stage `many` of `npm run test:chaos`. */
const EVERY = sized({ whole: 1, part: 8 })
const some = (pairs: readonly KeyPair[]): readonly KeyPair[] => pairs.filter((_, i) => i % EVERY === 0)

describe('a key makes a difference', () => {
  test.each(some(HANDLER_PAIRS))('$section: $keys (15.1.3)', async (pair) => {
    const entry = (given: string): string => `{name: h, trigger: go${given === '' ? '' : `, ${given}`}}`
    const isGroup = pair.keys.startsWith('fan_in')
    const one = isGroup ? entry(pair.one).replace('trigger: go, ', '') : entry(pair.one)
    const other = isGroup ? entry(pair.other).replace('trigger: go, ', '') : entry(pair.other)
    await differ(textOf(pair, one, false), textOf(pair, other, false))
  })
  test.each(some(TRIGGER_PAIRS))('$section: $keys (15.1.3)', async (pair) => {
    const entry = (given: string): string =>
      given.includes('after')
        ? `{name: h, ${given}}, {name: src, trigger: {event: go, filter: payload.n == 1}, emits: [{event: out, data: {}}]}, {name: src2, trigger: {event: go, filter: payload.n == 5}, emits: [{event: other, data: {}}]}`
        : `{name: h, ${given}}`
    await differ(textOf(pair, entry(pair.one), false), textOf(pair, entry(pair.other), false))
  })
  test.each(some(WHOLE_PAIRS))('$section: $keys (15.1.3)', (pair) =>
    differ(textOf(pair, pair.one, true), textOf(pair, pair.other, true)),
  )
  test.each(some(SECTION_PAIRS))('$keys (15.1.3)', ({ one, other }) => differ(sectionText(one), sectionText(other)))
})

test('the same manifest run twice gives the same result (15.1.3)', async () => {
  const text = sectionText('schedules: [{name: s, every: 1h, function: h}]')
  expect(await played(text)).toBe(await played(text))
})

test('each key of the schema is run, refused, reported, tested or read, and a new key must be one of these (15.1.3)', () => {
  const played = playedKeys()
  const counts = new Map<string, string[]>()
  for (const key of manifestKeys()) {
    const known = classOf(key, played)
    counts.set(known, [...(counts.get(known) ?? []), key])
  }
  console.info([...counts].map(([known, keys]) => `${known} ${keys.length}`).join(', '))
  expect(counts.get('nowhere') ?? []).toEqual([])
  expect([...played].filter((key) => !manifestKeys().includes(key))).toEqual([])
  expect(counts.get('played')?.length).toBeGreaterThan(120)
  expect(classOf('functions.brand_new', played)).not.toBe('played')
  expect(classOf('schedules.brand_new', played)).toBe('nowhere')
})
