/** The check of a hash chain: a list of facts is whole, or the flaw is named. */
import { describe, expect, test } from 'vitest'
import { runId } from './ids.ts'
import { flawOf, GENESIS, plainSeals, type SealedList, sealText } from './seal.ts'

const stream = runId('0'.repeat(32))
const digest = (text: string): string => `<${text.length}:${text.slice(-60)}>`
const { checkSeal } = plainSeals(digest)

const listOf = (...bodies: readonly string[]): SealedList => {
  let head = GENESIS
  const facts = bodies.map((body, seq) => {
    const fact = { type: 'step.completed', recordedAt: seq, body }
    head = digest(sealText(head, { stream, seq, ...fact }))
    return { ...fact, hash: head }
  })
  return { stream, first: 0, previous: GENESIS, facts, head }
}

const whole = listOf('{"a":1}', '{"b":2}', '{"c":3}')

const changed = (at: number, change: object): SealedList => ({
  ...whole,
  facts: whole.facts.map((fact, i) => (i === at ? { ...fact, ...change } : fact)),
})

describe('seal-1', () => {
  test('a list as it was sealed is whole, and so is its tail alone', () => {
    expect(flawOf(whole, checkSeal)).toBeNull()
    const { facts } = whole
    expect(flawOf({ ...whole, first: 1, previous: null, facts: facts.slice(1) }, checkSeal)).toBeNull()
  })

  test.each([
    ['body', { body: '{"b":9}' }],
    ['type', { type: 'step.failed' }],
    ['time', { recordedAt: 77 }],
    ['hash', { hash: 'x' }],
  ])('a changed %s is reported at its fact', (_, change) => {
    expect(flawOf(changed(1, change), checkSeal)).toContain('fact 1 ')
  })

  test('a missing fact at the end, in the middle or at the beginning is found', () => {
    const { facts } = whole
    expect(flawOf({ ...whole, facts: facts.slice(0, 2) }, checkSeal)).toContain('head')
    expect(flawOf({ ...whole, facts: facts.filter((_, i) => i !== 1) }, checkSeal)).toContain('fact 1 ')
    expect(flawOf({ ...whole, facts: facts.slice(1) }, checkSeal)).toContain('fact 0 ')
  })
})

describe('seal-2', () => {
  test.each([
    ['unkeyed', 'fact 0 (step.completed) is not sealed with the seal key'],
    ['broken', 'the hash of fact 0 (step.completed) does not fit'],
  ] as const)('a seal that is %s breaks the list', (answer, sentence) =>
    expect(flawOf(whole, () => answer)).toContain(sentence),
  )

  test('a seal with an unknown key names the key', () => {
    const keyed = changed(0, { hash: 'h1:abcdefgh:xyz' })
    expect(flawOf(keyed, checkSeal)).toContain('sealed with key abcdefgh, which TRIHAND_SEAL_KEY does not have')
  })
})
