/** `trihand events list --delayed`, `trihand events cancel <id>`: lists delayed events and cancels one. */
import { withApi } from '#cli/connect/connect.ts'
import { type Listing, printPage, queryText } from '#cli/terminal/listing.ts'
import { EXIT, visible } from '#cli/terminal/output.ts'
import type { CommonFlags, Verb } from '#cli/terminal/shell.ts'
import type { DelayedEvent } from '#http/openapi/api.ts'
import type { Page } from '#http/server/query.ts'

export interface DelayedFlags extends CommonFlags {
  readonly limit?: string
  readonly cursor?: string
}

const rowOf = ({ id, type, due_at: dueAt, data }: DelayedEvent): readonly string[] => [
  id,
  type,
  dueAt ?? 'now',
  JSON.stringify(data),
]

const LISTING: Listing<DelayedEvent> = {
  row: rowOf,
  id: ({ id }) => id,
  empty: 'No events are scheduled.',
  command: 'trihand events list --delayed',
}

export const listDelayed: Verb<DelayedFlags> = async (shell, flags) => {
  const { limit, cursor } = flags
  const path = `/api/events/delayed${queryText({ limit, cursor })}`
  const page = await withApi(shell, flags, { need: 'look' }, (api) => api.get<Page<DelayedEvent>>(path))
  return printPage(shell.output, page, LISTING)
}

export interface CancelEventFlags extends CommonFlags {
  readonly id: string
}

export const cancelEvent: Verb<CancelEventFlags> = async (shell, flags) => {
  const path = `/api/events/${encodeURIComponent(flags.id)}`
  const event = await withApi(shell, flags, { need: 'work' }, (api) => api.delete<DelayedEvent>(path))
  const { output } = shell
  if (output.isJson) output.document(event)
  else output.line(visible(`${event.type} ${event.id} is cancelled`))
  return EXIT.done
}
