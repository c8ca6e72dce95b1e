/** The text of a manifest: what is accepted, what is refused, and where. */
import { describe, expect, test } from 'vitest'
import { parseYaml, type TextRemark } from './document.ts'
import type { Places } from './places.ts'

const remarksOf = (text: string): readonly TextRemark[] => {
  const parsed = parseYaml(text)
  return parsed.kind === 'refused' ? parsed.remarks : []
}

const placesOf = (text: string): Places => {
  const parsed = parseYaml(text)
  if (parsed.kind === 'refused') throw new Error(JSON.stringify(parsed.remarks))
  return parsed.places
}

describe('what is refused', () => {
  test.each([
    ['a broken list', 'a: 1\nb: [1\n', 'MANIFEST_INVALID', 3],
    ['a key that stands twice', 'a: 1\na: 2\n', 'MANIFEST_DUPLICATE_KEY', 2],
    ['a tag of a language', 'a: !!js/function x\n', 'MANIFEST_INVALID', 1],
    ['binary data', 'a: 1\nb: !!binary aGk=\n', 'MANIFEST_INVALID', 2],
    ['a number without end', 'a: 1\nb: .inf\n', 'MANIFEST_INVALID', 2],
    ['a number that is none', 'b: [1, .nan]\n', 'MANIFEST_INVALID', 1],
    ['a number too large to hold', 'b: 1e999\n', 'MANIFEST_INVALID', 1],
    ['two documents', 'a: 1\n---\nb: 1\n', 'MANIFEST_INVALID', 2],
    ['a key that is a list', 'a: 1\n? [b]\n: 1\n', 'MANIFEST_INVALID', 2],
    ['the key of a prototype', 'a:\n  __proto__: {b: 1}\n', 'MANIFEST_INVALID', 2],
    ['an alias of nothing', 'a: *b\n', 'MANIFEST_INVALID', 1],
  ])('%s', (_, text, code, line) => {
    const [remark] = remarksOf(text)
    expect([remark?.code, remark?.position.line]).toEqual([code, line])
  })

  test('a text that is too large', () =>
    expect(remarksOf(`a: "${'x'.repeat(256 * 1024)}"`)[0]?.code).toBe('MANIFEST_TOO_LARGE'))

  test('an unquoted cron expression, with the advice to quote it', () => {
    const [remark] = remarksOf('schedules:\n  - cron: */30 * * * *\n')
    expect(remark).toMatchObject({ code: 'MANIFEST_INVALID', position: { line: 2 } })
    expect(remark?.hint).toContain('quote it')
  })

  test.each([
    ['brackets', '['.repeat(60_000)],
    ['braces', '{a: '.repeat(60_000)],
    ['dashes', '- '.repeat(60_000)],
    ['question marks', '? '.repeat(60_000)],
    ['colons', ': '.repeat(60_000)],
    ['indentation', Array.from({ length: 600 }, (_, i) => `${' '.repeat(i)}a:`).join('\n')],
    ['lists in lists', Array.from({ length: 600 }, (_, i) => `${' '.repeat(i)}-`).join('\n')],
  ])('endlessly nested %s, with a line', (_, text) => {
    const [remark] = remarksOf(text)
    expect(remark).toMatchObject({ code: 'MANIFEST_INVALID', message: 'the text is nested too deeply' })
    expect(remark?.position.line).toBeGreaterThan(0)
  })

  test('aliases that grow exponentially', () => {
    const lines = ['a0: &a0 [x, x, x, x, x, x, x, x, x]']
    for (let i = 1; i < 9; i++)
      lines.push(
        `a${i}: &a${i} [${Array(9)
          .fill(`*a${i - 1}`)
          .join(', ')}]`,
      )
    expect(remarksOf(lines.join('\n'))[0]?.code).toBe('MANIFEST_INVALID')
  })
})

describe('what is accepted', () => {
  test('sixty levels, and many short lines in a row', () => {
    const deep = Array.from({ length: 60 }, (_, i) => `${' '.repeat(i)}a:`).join('\n')
    const wide = `{${Array.from({ length: 500 }, (_, i) => `k${i}: ${i}`).join(', ')}}`
    const long = Array.from({ length: 500 }, (_, i) => `k${i}:\n  - a: 1\n    b: [1, 2]`).join('\n')
    for (const text of [deep, wide, long]) expect(remarksOf(text)).toEqual([])
  })

  test('yes and no are text, a merge key is an ordinary key, an alias is its value', () => {
    const parsed = parseYaml('a: yes\n"<<": {b: no}\nc: &c [1]\nd: *c\n')
    expect(parsed.kind === 'parsed' && parsed.value).toEqual({ a: 'yes', '<<': { b: 'no' }, c: [1], d: [1] })
  })
})

describe('places', () => {
  const TEXT = `product:
  name: shop
  version: 2.0
events:
  - order.placed
  - name: order.paid
    payload: {id: string!}
functions:
  ship:
    trigger: {event: order.paid, filter: "payload.n > 3"}
  - no
`.replace('  - no\n', '')
  const places = placesOf(TEXT)

  test.each([
    [['product', 'name'], 2, 9],
    [['events', 'definitions', 'order.paid', 'payload'], 7, 14],
    [['events', 'order', 'paid', 'payload', 'id'], 7, 19],
    [['events', 'definitions', 'order.placed'], 5, 5],
    [['functions', 'ship', 'triggers', 0, 'filter'], 10, 42],
    [['functions', 'ship', 'retry', 'max_attempts'], 10, 5],
    [['nowhere'], 1, 1],
  ])('%j is at %i:%i', (path, line, column) => expect(places.at(path)).toEqual({ line, column }))

  test('a key has its own place, and an offset inside an expression is added', () => {
    expect(places.at(['functions', 'ship'], 'key')).toEqual({ line: 9, column: 3 })
    expect(places.at(['functions', 'ship', 'trigger', 'filter'], 'value', 8)).toEqual({ line: 10, column: 51 })
  })

  test('a moved value keeps the place where it was written', () => {
    places.moved(['schedules', 'ship'], ['functions', 'ship', 'trigger'])
    expect(places.at(['schedules', 'ship', 'filter'])).toEqual({ line: 10, column: 42 })
  })

  test('a version is read as it was written', () => expect(places.sourceOf(['product', 'version'])).toBe('2.0'))
})
