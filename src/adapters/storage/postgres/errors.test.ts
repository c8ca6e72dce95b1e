/** How errors of the server or the connection are reported to the caller. */
import pg from 'pg'
import { describe, expect, test } from 'vitest'
import { TrihandError } from '#model/kernel/errors.ts'
import { isAlreadyThere, isWorthSplitting, translate } from './errors.ts'

const serverError = (code: string): pg.DatabaseError =>
  Object.assign(new pg.DatabaseError('told so', 1, 'error'), { code })

describe('errors of Postgres', () => {
  test.each([
    ['53100', 'STORAGE_FULL', 'not_done'],
    ['40001', 'LEDGER_UNAVAILABLE', 'not_done'],
    ['40P01', 'LEDGER_UNAVAILABLE', 'not_done'],
    ['55P03', 'LEDGER_UNAVAILABLE', 'not_done'],
    ['57014', 'LEDGER_UNAVAILABLE', 'not_done'],
    ['53300', 'LEDGER_UNAVAILABLE', 'not_done'],
    ['25006', 'LEDGER_NOT_DURABLE', 'not_done'],
    ['23505', 'INTERNAL', 'not_done'],
    ['28P01', 'CONFIG_INVALID', 'not_done'],
    ['57P01', 'LEDGER_UNAVAILABLE', 'unknown'],
    ['57P02', 'LEDGER_UNAVAILABLE', 'unknown'],
    ['08006', 'LEDGER_UNAVAILABLE', 'unknown'],
    ['58030', 'LEDGER_UNAVAILABLE', 'unknown'],
    ['XX001', 'LEDGER_CORRUPT', 'unknown'],
  ])('%s in answer to a statement is %s, %s', (state, code, outcome) => {
    expect(translate(serverError(state), true)).toMatchObject({ code, outcome, detail: `Postgres: told so (${state})` })
  })

  test.each(['57P01', '57P03', '53300', '08006'])('%s before anything was sent has the outcome not_done', (state) => {
    expect(translate(serverError(state), false)).toMatchObject({ code: 'LEDGER_UNAVAILABLE', outcome: 'not_done' })
  })

  test('a broken connection leaves the outcome unknown only if something was sent', () => {
    const broken = new Error('Connection terminated unexpectedly')
    expect(translate(broken, true)).toMatchObject({ code: 'LEDGER_UNAVAILABLE', outcome: 'unknown', cause: broken })
    expect(translate(broken, false)).toMatchObject({ code: 'LEDGER_UNAVAILABLE', outcome: 'not_done' })
  })

  test('a host with two addresses that both refuse reports both reasons', () => {
    const refused = new AggregateError([new Error('refused at ::1'), new Error('refused at 127.0.0.1')])
    expect(translate(refused, false).detail).toBe('Postgres: refused at ::1; refused at 127.0.0.1')
  })

  test('our own error passes through unchanged', () => {
    const ours = new TrihandError('LEDGER_NOT_DURABLE', 'fsync is off')
    expect(translate(ours, true)).toBe(ours)
  })

  test('a batch is split for a fault in one append and for a deadlock, not for a lost connection', () => {
    const splits = ['23505', '22021', '21000', '40P01'].map((state) =>
      isWorthSplitting(translate(serverError(state), true)),
    )
    expect(splits).toEqual([true, true, true, true])
    expect(isWorthSplitting(translate(serverError('57P01'), true))).toBe(false)
    expect(isWorthSplitting(translate(new Error('gone'), true))).toBe(false)
  })

  test('a duplicate schema, table, object or row is recognised', () => {
    expect(['42P06', '42P07', '42710', '23505'].map((state) => isAlreadyThere(serverError(state)))).toEqual([
      true,
      true,
      true,
      true,
    ])
    expect(isAlreadyThere(serverError('42P01'))).toBe(false)
  })
})
