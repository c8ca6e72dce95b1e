/** A list of facts is whole, or it is told what is wrong with it. */
import { describe, expect, test } from 'vitest'
import { runId } from './ids.ts'
import { flawOf, GENESIS, type SealedList, sealText } from './seal.ts'

const stream = runId('0'.repeat(32))
const digest = (text: string): string => `<${text.length}:${text.slice(-60)}>`

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
  test('a list as it was sealed is whole, and so is its end alone', () => {
    expect(flawOf(whole, digest)).toBeNull()
    const { facts } = whole
    expect(flawOf({ ...whole, first: 1, previous: null, facts: facts.slice(1) }, digest)).toBeNull()
  })

  test.each([
    ['body', { body: '{"b":9}' }],
    ['type', { type: 'step.failed' }],
    ['time', { recordedAt: 77 }],
    ['hash', { hash: 'x' }],
  ])('a changed %s is found at its fact', (_, change) => {
    expect(flawOf(changed(1, change), digest)).toContain('fact 1 ')
  })

  test('a fact that is gone from the end, the middle or the beginning is found', () => {
    const { facts } = whole
    expect(flawOf({ ...whole, facts: facts.slice(0, 2) }, digest)).toContain('head')
    expect(flawOf({ ...whole, facts: facts.filter((_, i) => i !== 1) }, digest)).toContain('fact 1 ')
    expect(flawOf({ ...whole, facts: facts.slice(1) }, digest)).toContain('fact 0 ')
  })
})
