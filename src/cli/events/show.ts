/**
 * `trihand events show|replay <number>`: shows one event by its sequence number in full, or sends it again under a new id.
 *
 * Owns the content of a replay: type, source, subject and data of the old event. Which runs it starts is decided anew.
 */
import type { Api } from '#cli/connect/api.ts'
import { withApi } from '#cli/connect/connect.ts'
import type { WhoFlags } from '#cli/connect/who.ts'
import { queryText } from '#cli/terminal/listing.ts'
import { EXIT, jsonText, type Output, visible } from '#cli/terminal/output.ts'
import type { CommonFlags, Verb } from '#cli/terminal/shell.ts'
import type { StoredEvent } from '#http/openapi/api.ts'
import type { Page } from '#http/server/query.ts'
import { TrihandError } from '#model/kernel/errors.ts'
import { sendVia } from './send.ts'

export interface EventFlags extends CommonFlags {
  /** Its sequence number: the first column of `events list`. */
  readonly number: string
}

export interface ReplayFlags extends EventFlags, WhoFlags {
  readonly wait?: number
}

const numberIn = ({ number }: EventFlags): number => {
  if (/^\d{1,15}$/.test(number)) return Number(number)
  throw new TrihandError(
    'CONFIG_INVALID',
    `"${number}" is not an event number; use the first column of \`events list\``,
  )
}

/** The event with this number. */
const eventAt = async (api: Api, number: number): Promise<StoredEvent> => {
  const path = `/api/events${queryText({ cursor: String(number + 1), limit: '1' })}`
  const [event] = (await api.get<Page<StoredEvent>>(path)).items
  if (event?.sequence === number) return event
  throw new TrihandError('NOT_FOUND', `event number ${number} does not exist`)
}

const label = (name: string, text: string): string => `${name.padEnd(12)}${visible(text)}`

const printWhole = (output: Output, event: StoredEvent): void => {
  output.line(visible(`${event.sequence}  ${event.type}  ${event.id}`))
  output.line(label('source', event.source))
  if (event.subject !== null) output.line(label('subject', event.subject))
  output.line(label('time', event.time))
  output.line(label('correlation', event.correlation_id))
  if (event.causation_id !== null) output.line(label('causation', event.causation_id))
  for (const line of jsonText(event.data, 2).split('\n')) output.line(line)
}

export const showEvent: Verb<EventFlags> = async (shell, flags) => {
  const number = numberIn(flags)
  const event = await withApi(shell, flags, { need: 'look' }, (api) => eventAt(api, number))
  if (shell.output.isJson) shell.output.document(event)
  else printWhole(shell.output, event)
  return EXIT.done
}

export const replayEvent: Verb<ReplayFlags> = async (shell, flags) => {
  const number = numberIn(flags)
  return withApi(shell, flags, { need: 'work' }, async (api) => {
    const { type, source, subject, data } = await eventAt(api, number)
    const again = { type, source, data, ...(subject === null ? {} : { subject }) }
    return sendVia(api, shell.output, again, flags)
  })
}
