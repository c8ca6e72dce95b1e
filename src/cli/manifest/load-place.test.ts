/** Places out of foreign error texts. */
import { describe, expect, test } from 'vitest'
import { faultOf } from './load-place.ts'

const FOLDER = process.cwd()

const withStack = (message: string, ...frames: readonly string[]): Error => {
  const error = new Error(message)
  error.stack = [`Error: ${message}`, ...frames.map((frame) => `    at ${frame}`)].join('\n')
  return error
}

describe('a fault', () => {
  test('the loader’s words for text that it cannot parse, with the column counted from 1', () => {
    const error = new Error(`ParseError: Unexpected token, expected ","  \n ${FOLDER}/a/system.ts:4:12`)
    expect(faultOf(error, FOLDER)).toEqual({
      message: 'Unexpected token, expected ","',
      place: { file: 'a/system.ts', line: 4, column: 13 },
    })
  })

  test.each([
    [`boom (${FOLDER}/system.ts:4:9)`],
    [`${FOLDER}/system.ts:4:9`],
    [`async ${FOLDER}/system.ts:4:9`],
    [`boom (file://${FOLDER}/system.ts:4:9)`],
  ])('the first frame in a file of the user: %s', (frame) => {
    const error = withStack(
      'no luck',
      'x (node:internal/modules:1:1)',
      `y (${FOLDER}/node_modules/p/index.js:2:2)`,
      frame,
    )
    expect(faultOf(error, FOLDER).place).toEqual({ file: 'system.ts', line: 4, column: 9 })
  })

  test('without such a frame there is no place', () => {
    const error = withStack('no luck', 'x (node:internal/modules:1:1)', 'y (/elsewhere/index.js:2:2)', 'native')
    expect(faultOf(error, FOLDER)).toEqual({ message: 'no luck', place: null })
  })

  test('whatever was thrown has words', () => {
    expect(faultOf('just text', FOLDER)).toEqual({ message: 'just text', place: null })
  })

  test('only the first line of a long message is told', () => {
    expect(faultOf(new Error('Cannot find x\nRequire stack:\n- y'), '/nowhere').message).toBe('Cannot find x')
  })
})
