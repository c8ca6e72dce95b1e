/** The pool of processes for isolated code, where none can be started. */
import { expect, test } from 'vitest'
import { IsolatedProcesses } from './pool.ts'

test('every caller gets the error, also those who wait beyond the limit of processes', async () => {
  const pool = new IsolatedProcesses({ processes: 2 })
  const { signal } = new AbortController()
  const callers = Array.from({ length: 7 }, () => pool.acquire('shop', { folder: '/no/such/folder' }, signal))
  const ends = await Promise.allSettled(callers)
  expect(ends.map(({ status }) => status)).toEqual(ends.map(() => 'rejected'))
  pool.close()
})
