/** The table of error codes, row by row, and the error class. */
import { describe, expect, test } from 'vitest'
import { ERRORS, type ErrorCode, isErrorCode, TrihandError } from './errors.ts'

const ROWS = Object.entries(ERRORS) as readonly (readonly [ErrorCode, (typeof ERRORS)[ErrorCode]])[]

describe('the table', () => {
  test.each(ROWS)('%s is a noun and a problem, and has a status and a hint that is a sentence', (code, row) => {
    expect(code).toMatch(/^[A-Z][A-Z0-9]*(_[A-Z0-9]+)*$/)
    expect(row.status).toBeGreaterThanOrEqual(400)
    expect(row.status).toBeLessThan(600)
    expect(row.hint).toMatch(/^[A-Z].*[.`]$/)
  })

  test('no two codes give the same hint', () => {
    const hints = ROWS.map(([, row]) => row.hint)
    expect(hints.filter((hint, i) => hints.indexOf(hint) !== i)).toEqual([])
  })

  test('a retryable code below 500 only ever means: wait and send it again', () =>
    expect(ROWS.filter(([, row]) => row.retryable && row.status < 500).map(([code]) => code)).toEqual([
      'OVERLOADED',
      'QUEUE_FULL',
      'RATE_LIMITED',
    ]))

  test('only the exact spelling of a code is an error code', () => {
    expect(isErrorCode('NOT_FOUND')).toBe(true)
    expect(['not_found', '', 'toString', '__proto__'].map(isErrorCode)).toEqual([false, false, false, false])
  })
})

describe('the error', () => {
  test('an error reads status, retry and hint from the table', () => {
    const error = new TrihandError('LEDGER_CONFLICT', 'version 4, expected 3')
    expect(error).toMatchObject({ code: 'LEDGER_CONFLICT', ...ERRORS.LEDGER_CONFLICT })
    expect(new TrihandError('NOT_FOUND', 'run')).toMatchObject(ERRORS.NOT_FOUND)
  })

  test('an error message holds the code and the detail', () => {
    const error = new TrihandError('NOT_FOUND', 'no run ends with 7f')
    expect(error).toBeInstanceOf(Error)
    expect([error.name, error.message, error.detail]).toEqual([
      'TrihandError',
      'NOT_FOUND: no run ends with 7f',
      'no run ends with 7f',
    ])
  })

  test('an error without options has no place and no cause, and says that the work was not done', () => {
    const error = new TrihandError('NOT_FOUND', 'run')
    expect(error).toMatchObject({ place: null, outcome: 'not_done' })
    expect(Object.hasOwn(error, 'cause')).toBe(false)
  })

  test('an error keeps its place, its cause and an unknown outcome', () => {
    const cause = new Error('disk')
    const place = { file: 'manifest.yaml', line: 3, column: 7 }
    const error = new TrihandError('LEDGER_UNAVAILABLE', 'no answer', { place, cause, outcome: 'unknown' })
    expect(error).toMatchObject({ place, outcome: 'unknown' })
    expect(error.cause).toBe(cause)
  })
})
