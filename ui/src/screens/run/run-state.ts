/** What the status of a run lets a person do. Whether it may be done is asked of the server with the deed itself. */
import type { RunDetail } from '../../api/documents.ts'

const ENDED: ReadonlySet<string> = new Set([
  'success',
  'partial',
  'failed',
  'cancelled',
  'skipped',
  'expired',
  'quarantined',
])
const RETRIABLE: ReadonlySet<string> = new Set(['failed', 'cancelled', 'expired', 'quarantined'])

export const hasEnded = ({ status }: Pick<RunDetail, 'status'>): boolean => ENDED.has(status)
export const canRetry = ({ status }: Pick<RunDetail, 'status'>): boolean => RETRIABLE.has(status)
/** Also while its last step goes on: the status says so only after that. */
export const isPaused = ({ waiting_on }: Pick<RunDetail, 'waiting_on'>): boolean =>
  waiting_on.some(({ kind }) => kind === 'paused')
