/** Secrets in texts and values are replaced by their names, in every encoding. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Json } from './json.ts'
import { createRedaction } from './redaction.ts'

const secret = (name: string, value: string) => ({ name, value })
const BACKSLASH_N = 'nfoobarbaz'

describe('redaction', () => {
  const redaction = createRedaction([
    secret('PAY_KEY', 'k3y/with "quotes"+\n1'),
    secret('SHORT', 'seven77'),
    secret('PLAIN', 'correct-horse'),
    secret('LONGER', 'correct-horse-battery'),
    secret('ODD', BACKSLASH_N),
  ])

  test.each([
    ['plain', 'pay with correct-horse now', 'pay with [redacted:PLAIN] now'],
    ['the longer of two', 'correct-horse-battery', '[redacted:LONGER]'],
    ['escaped as JSON', JSON.stringify({ key: 'k3y/with "quotes"+\n1' }), '{"key":"[redacted:PAY_KEY]"}'],
    ['encoded for a URL', `?k=${encodeURIComponent('k3y/with "quotes"+\n1')}&x`, '?k=[redacted:PAY_KEY]&x'],
    ['too short to be known', 'seven77', 'seven77'],
    ['a key of a model', `use sk-ant-${'a1'.repeat(20)}.`, 'use [redacted:anthropic_key].'],
    ['no key but a word', `task-${'a1'.repeat(20)}`, `task-${'a1'.repeat(20)}`],
    [
      'a private key',
      '-----BEGIN RSA PRIVATE KEY-----\nabc\n-----END RSA PRIVATE KEY-----.',
      '[redacted:private_key].',
    ],
    ['a token of ours', `Bearer th_${'x'.repeat(43)}`, 'Bearer [redacted:trihand_token]'],
  ])('redacts: %s', (_, text, expected) => {
    expect(redaction.text(text)).toBe(expected)
  })

  test('redaction-1: a secret in base64 is found at each of the three offsets, in both alphabets', () => {
    for (const before of ['', 'a', 'ab', 'user:'])
      for (const alphabet of ['base64', 'base64url'] as const) {
        const encoded = Buffer.from(`${before}correct-horse-battery, more`).toString(alphabet)
        expect(redaction.text(encoded)).toContain('[redacted:LONGER]')
      }
  })

  test('redaction-2: JSON stays JSON when an escape precedes a secret or looks like one', () => {
    const value = {
      a: `\n${BACKSLASH_N}`,
      b: '\nfoobarbaz',
      c: [`\u001bsk-${'a1'.repeat(12)}`],
      [BACKSLASH_N]: 1,
      n: null,
    }
    const expected = {
      a: '\n[redacted:ODD]',
      b: '\nfoobarbaz',
      c: ['\u001b[redacted:openai_key]'],
      '[redacted:ODD]': 1,
      n: null,
    }
    expect(redaction.value(value)).toEqual(expected)
    expect(JSON.parse(redaction.json(JSON.stringify(value)))).toEqual(expected)
  })

  test('redaction-2: a value without a secret comes back unchanged', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const text = JSON.stringify(value)
        expect(redaction.json(text)).toBe(text)
        expect(redaction.value(value as Json)).toBe(value)
      }),
    )
  })

  test("redaction-1, redaction-3: however a text is cut, no known value and no key is in the stream's output", () => {
    const values = ['correct-horse', 'correct-horse-battery', 'k3y/with "quotes"+\n1', `sk-ant-${'Ab1_'.repeat(9)}`]
    const piece = fc.oneof(
      { weight: 2, arbitrary: fc.constantFrom(...values) },
      fc.constantFrom(' ', '\n', 'and', 'ta', 'correct-', 'sk-', '日本語', '-'),
      fc.string({ maxLength: 5 }),
    )
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 12 }), fc.array(fc.integer({ min: 1, max: 9 })), (parts, cuts) => {
        const whole = parts.join('')
        const stream = redaction.stream()
        let told = ''
        for (let at = 0, i = 0; at < whole.length; i++) {
          const length = cuts[i % Math.max(1, cuts.length)] ?? whole.length
          told += stream.push(whole.slice(at, at + length))
          at += length
        }
        told += stream.end()
        for (const value of values) expect(told).not.toContain(value)
        expect(told).not.toMatch(/Ab1_Ab1_/)
        if (!values.some((value) => whole.includes(value)))
          expect(told.replaceAll(/\[redacted:\w+\]/g, '').length).toBeLessThanOrEqual(whole.length)
      }),
    )
  })

  test('text without a secret is streamed soon, not held back until the end', () => {
    const stream = createRedaction([]).stream()
    const pieces = ['The ans', 'wer i', 's', ' 42 task-', 'list', '日本語']
    expect(pieces.map((piece) => stream.push(piece)).join('|')).toBe('The an|swer i||s 42 ta||sk-list日本語')
    expect(stream.end()).toBe('')
  })
})
