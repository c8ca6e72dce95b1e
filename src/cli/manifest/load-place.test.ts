/** Extracting places from error texts of the loader and the stack. */
import { describe, expect, test } from 'vitest'
import { faultOf } from './load-place.ts'

const FOLDER = process.cwd()

const withStack = (message: string, ...frames: readonly string[]): Error => {
  const error = new Error(message)
  error.stack = [`Error: ${message}`, ...frames.map((frame) => `    at ${frame}`)].join('\n')
  return error
}

describe('a fault', () => {
  test('has the message and the place of a parse error of the loader, with the column counted from 1', () => {
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
  ])('has the place of the first frame in a file of the user: %s', (frame) => {
    const error = withStack(
      'no luck',
      'x (node:internal/modules:1:1)',
      `y (${FOLDER}/node_modules/p/index.js:2:2)`,
      frame,
    )
    expect(faultOf(error, FOLDER).place).toEqual({ file: 'system.ts', line: 4, column: 9 })
  })

  test('has no place without such a frame', () => {
    const error = withStack('no luck', 'x (node:internal/modules:1:1)', 'y (/elsewhere/index.js:2:2)', 'native')
    expect(faultOf(error, FOLDER)).toEqual({ message: 'no luck', place: null })
  })

  test('has a message whatever was thrown', () => {
    expect(faultOf('just text', FOLDER)).toEqual({ message: 'just text', place: null })
  })

  test('has only the first line of a long message', () => {
    expect(faultOf(new Error('Cannot find x\nRequire stack:\n- y'), '/nowhere').message).toBe('Cannot find x')
  })
})
