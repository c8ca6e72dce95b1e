/** Which statuses are final. */
import { expect, test } from 'vitest'
import { isEnded, RUN_STATUSES } from './status.ts'

test('six statuses are final', () =>
  expect(RUN_STATUSES.filter(isEnded)).toEqual(['success', 'partial', 'failed', 'cancelled', 'expired', 'quarantined']))
