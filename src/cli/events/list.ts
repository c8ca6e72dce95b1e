/** `trihand events list`: events, newest first. */
import { withApi } from '#cli/connect/connect.ts'
import { type Listing, printPage, queryText } from '#cli/terminal/listing.ts'
import type { CommonFlags, Verb } from '#cli/terminal/shell.ts'
import type { StoredEvent } from '#http/openapi/api.ts'
import type { Page } from '#http/server/query.ts'
import { listDelayed } from './delayed.ts'

export interface EventsListFlags extends CommonFlags {
  readonly type?: string
  readonly limit?: string
  readonly cursor?: string
  readonly delayed?: boolean
}

const LISTING: Listing<StoredEvent> = {
  row: (event) => [String(event.sequence), event.type, event.source, event.time, JSON.stringify(event.data)],
  id: (event) => event.id,
  empty: 'No events match.',
  command: 'trihand events list',
}

export const listEvents: Verb<EventsListFlags> = async (shell, flags) => {
  const { type, limit, cursor, delayed } = flags
  if (delayed === true) return listDelayed(shell, flags)
  const path = `/api/events${queryText({ type, limit, cursor })}`
  const page = await withApi(shell, flags, { need: 'look' }, (api) => api.get<Page<StoredEvent>>(path))
  return printPage(shell.output, page, LISTING)
}
