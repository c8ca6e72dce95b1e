/** Which values may enter the ledger, their canonical spelling, and the value at a path. */
import { describe, expect, test } from 'vitest'
import { TrihandError } from './errors.ts'
import { at, canonical, type Json, toJson } from './json.ts'

const nested = (levels: number): Json => {
  let value: Json = 'core'
  for (let i = 0; i < levels; i++) value = [value]
  return value
}

describe('toJson', () => {
  test.each<[unknown]>([
    [null],
    [true],
    [0],
    [-1.5e300],
    [''],
    ['\ud800'],
    [[]],
    [{}],
    [[1, ['a', null]]],
    [{ a: { b: [1] } }],
  ])('toJson returns %j unchanged', (value) => expect(toJson(value)).toBe(value))

  test('an object without a prototype is plain', () => {
    const value = Object.assign(Object.create(null), { a: 1 })
    expect(toJson(value)).toBe(value)
  })

  test('undefined, which a function without a result returns, becomes null', () => expect(toJson(undefined)).toBeNull())

  class Money {
    readonly cents = 5
  }
  const cycle: Record<string, unknown> = {}
  cycle['self'] = { cycle }

  test.each<[string, unknown, string]>([
    ['NaN', NaN, 'the value is NaN'],
    ['an endless number', { a: [1, -Infinity] }, '/a/1 is -Infinity'],
    ['an undefined member', { a: undefined }, '/a is undefined'],
    ['an undefined item', [undefined], '/0 is undefined'],
    ['a hole', new Array(1), '/0 is undefined'],
    ['a function', { a: () => 1 }, '/a is function'],
    ['a symbol', Symbol('x'), 'the value is symbol'],
    ['a BigInt', [1n], '/0 is bigint'],
    ['a date', { on: new Date(0) }, '/on is a Date'],
    ['a map', new Map(), 'the value is a Map'],
    ['an instance', new Money(), 'the value is a Money'],
    ['a boxed text', Object('x'), 'the value is a String'],
    ['an error', new Error('x'), 'the value is a Error'],
    ['an object of unknown make', Object.create(Object.create(null)), 'the value is a special object'],
    ['a symbol as a key', { [Symbol('x')]: 1 }, 'the value is an object with symbol keys'],
    ['a list with names', Object.assign([1], { index: 0 }), 'the value is a list with named members'],
    ['the answer of a regular expression', 'abc'.match(/b/), 'the value is a list with named members'],
    ['__proto__', JSON.parse('{"__proto__": 1}'), '/__proto__ is a forbidden key'],
    ['constructor', { a: { constructor: 1 } }, '/a/constructor is a forbidden key'],
    ['prototype', { prototype: 1 }, '/prototype is a forbidden key'],
    ['a cycle', cycle, 'nested deeper than 64 levels'],
  ])('%s is refused, and the place is named', (_, value, detail) => {
    expect(() => toJson(value)).toThrow(TrihandError)
    expect(() => toJson(value)).toThrow(`JSON_INVALID: `)
    expect(() => toJson(value)).toThrow(detail)
  })

  test('at most 65 levels of nesting are accepted', () => {
    expect(toJson(nested(65))).toEqual(nested(65))
    expect(() => toJson(nested(66))).toThrow('nested deeper than 64 levels')
  })
})

describe('canonical', () => {
  test.each<[Json, string]>([
    [null, 'null'],
    [-0, '0'],
    [[-0, 1e21, 0.1], '[0,1e+21,0.1]'],
    ['"\ud800\n', '"\\"\\ud800\\n"'],
    [{ b: 1, a: [{ d: true, c: null }] }, '{"a":[{"c":null,"d":true}],"b":1}'],
    // By UTF-16 code unit, not by code point: U+1F600 begins with D83D, before U+FB01.
    [{ ﬁ: 1, '😀': 2, é: 3, Z: 4, a: 5, '10': 6, '9': 7 }, '{"10":6,"9":7,"Z":4,"a":5,"é":3,"😀":2,"ﬁ":1}'],
    [{}, '{}'],
    [[], '[]'],
  ])('%j has one canonical spelling', (value, text) => expect(canonical(value)).toBe(text))
})

describe('the value at a path', () => {
  const data: Json = { order: { id: 7, lines: [{ sku: 'x' }], note: null }, '': 1 }

  test.each<[string, Json | undefined]>([
    ['order.id', 7],
    ['order.lines.0.sku', 'x'],
    ['order.note', null],
    ['', 1],
    ['order.lines.1', undefined],
    ['order.note.x', undefined],
    ['order.id.x', undefined],
    ['order.toString', undefined],
    ['missing', undefined],
    ['order.lines.length', undefined],
  ])('the value at %j', (path, expected) => expect(at(data, path)).toBe(expected))
})
