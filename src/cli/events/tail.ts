/**
 * `trihand events tail`: events as they come, a line each, oldest first.
 *
 * Owns where it begins and ends: after the newest event or after a given number; until Ctrl+C (130), a time limit (8) or a number of events
 * (0). It requires a server: opening the ledger only to read it would lock out other processes.
 */
import type { Api } from '#cli/connect/api.ts'
import { withApi } from '#cli/connect/connect.ts'
import { queryText } from '#cli/terminal/listing.ts'
import { EXIT, type Output, visible } from '#cli/terminal/output.ts'
import type { CommonFlags, Verb } from '#cli/terminal/shell.ts'
import type { StoredEvent } from '#http/openapi/api.ts'
import type { Page } from '#http/server/query.ts'
import { TrihandError } from '#model/kernel/errors.ts'
import { pollUntil } from './follow.ts'

export interface TailFlags extends CommonFlags {
  readonly type?: string
  /** It begins after the event with this number. */
  readonly after?: number
  /** It ends after this many events. */
  readonly count?: number
  readonly wait?: number
}

const PAGE = '200'

const newest = async (api: Api): Promise<number> =>
  (await api.get<Page<StoredEvent>>('/api/events?limit=1')).items[0]?.sequence ?? 0

/** Every event after a number, oldest first. */
const eventsAfter = async (api: Api, after: number, type: string | undefined): Promise<readonly StoredEvent[]> => {
  const found: StoredEvent[] = []
  for (let cursor: string | undefined; ; ) {
    const page: Page<StoredEvent> = await api.get(`/api/events${queryText({ type, cursor, limit: PAGE })}`)
    const fresh = page.items.filter(({ sequence }) => sequence > after)
    found.push(...fresh)
    if (page.next_cursor === null || fresh.length < page.items.length) return found.reverse()
    cursor = page.next_cursor
  }
}

const printEvent = (output: Output, event: StoredEvent): void => {
  const { sequence, type, source, time, data } = event
  if (output.isJson) output.document(event, { isStream: true })
  else output.line(visible(`${sequence}  ${time}  ${type}  ${source}  ${JSON.stringify(data)}`))
}

/** Prints new events at each call; returns the number of all events printed so far. */
const looker = (api: Api, output: Output, { type, count = Infinity }: TailFlags, begin: number) => {
  let [last, told] = [begin, 0]
  return async (): Promise<number> => {
    for (const event of await eventsAfter(api, last, type)) {
      if (told >= count) break
      printEvent(output, event)
      last = event.sequence
      told += 1
    }
    return told
  }
}

export const tailEvents: Verb<TailFlags> = (shell, flags) =>
  withApi(shell, flags, { need: 'look' }, async (api) => {
    const { output } = shell
    if (api.isLocal)
      throw new TrihandError(
        'SERVER_UNREACHABLE',
        'no server is running here, so no new events can arrive; start one with `trihand dev`',
      )
    const look = looker(api, output, flags, flags.after ?? (await newest(api)))
    const isEnough = (told: number): boolean => told >= (flags.count ?? Infinity)
    const told = await pollUntil(look, isEnough, flags.wait ?? null)
    if (told === 'interrupted') return EXIT.interrupted
    return isEnough(told) ? EXIT.done : EXIT.waitedOut
  })
