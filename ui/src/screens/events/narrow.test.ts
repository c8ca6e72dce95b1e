/** Filtering the loaded events. */
import { expect, test } from 'vitest'
import type { StoredEvent } from '../../api/documents.ts'
import { isNarrowed, narrowed } from './narrow.ts'

const event = (sequence: number, source: string, subject: string | null, correlation_id: string): StoredEvent => ({
  ...{ sequence, source, subject, correlation_id },
  ...{ id: `e-${sequence}`, type: 'paid', time: '2026-01-01T00:00:00.000Z', data: {}, causation_id: null, hops: 0 },
})
const events = [
  event(1, '/api/ana', 'order-7', 'c-1'),
  event(2, 'workflow:bill', null, 'c-1'),
  event(3, '/api/bob', 'Order-8', 'c-2'),
]

test.each([
  [{}, [1, 2, 3]],
  [{ source: '/api' }, [1, 3]],
  [{ subject: 'order' }, [1, 3]],
  [{ correlation: 'c-1' }, [1, 2]],
  [{ correlation: 'c-1', subject: 'order' }, [1]],
])('%j leaves %j', (filter, left) => {
  expect(narrowed(events, filter).map(({ sequence }) => sequence)).toEqual(left)
  expect(isNarrowed(filter)).toBe(left.length < 3)
})
