/**
 * Filters the loaded events by source, subject and correlation id.
 *
 * Pure. The server filters by type only, because it has an index for it. The page says that the other filters apply to loaded events.
 */
import type { StoredEvent } from '../../api/documents.ts'

export interface EventFilter {
  readonly source?: string | undefined
  readonly subject?: string | undefined
  readonly correlation?: string | undefined
}

const holds = (text: string | null, part: string | undefined): boolean =>
  part === undefined || (text ?? '').toLowerCase().includes(part.toLowerCase())

export const isNarrowed = ({ source, subject, correlation }: EventFilter): boolean =>
  source !== undefined || subject !== undefined || correlation !== undefined

export const narrowed = (events: readonly StoredEvent[], filter: EventFilter): readonly StoredEvent[] =>
  events.filter(
    (event) =>
      holds(event.source, filter.source) &&
      holds(event.subject, filter.subject) &&
      holds(event.correlation_id, filter.correlation),
  )
