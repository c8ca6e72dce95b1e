/** `trihand sessions list|show`: the shared memory of people and runs, and its checkpoints. */
import { withApi } from '#cli/connect/connect.ts'
import { type Listing, printPage, queryText } from '#cli/terminal/listing.ts'
import { EXIT, visible } from '#cli/terminal/output.ts'
import type { CommonFlags, Verb } from '#cli/terminal/shell.ts'
import type { Checkpoint, Session, SessionDetail } from '#http/openapi/api.ts'
import type { Page } from '#http/server/query.ts'

export interface SessionsListFlags extends CommonFlags {
  readonly limit?: string
  readonly cursor?: string
}

const LISTING: Listing<Session> = {
  row: ({ id, forked_from, version, created_at }) => [id, created_at, `${version} facts`, forked_from ?? ''],
  id: ({ id }) => id,
  empty: 'No sessions.',
  command: 'trihand sessions list',
}

export const listSessions: Verb<SessionsListFlags> = async (shell, flags) => {
  const { limit, cursor } = flags
  const path = `/api/sessions${queryText({ limit, cursor })}`
  const page = await withApi(shell, flags, { need: 'look' }, (api) => api.get<Page<Session>>(path))
  return printPage(shell.output, page, LISTING)
}

export interface SessionFlags extends CommonFlags {
  readonly id: string
}

export const showSession: Verb<SessionFlags> = async (shell, flags) => {
  const { output } = shell
  const at = `/api/sessions/${encodeURIComponent(flags.id)}`
  const { session, checkpoints } = await withApi(shell, flags, { need: 'look' }, async (api) => ({
    session: await api.get<SessionDetail>(at),
    checkpoints: await api.get<Page<Checkpoint>>(`${at}/checkpoints`),
  }))
  if (output.isJson) {
    output.document({ ...session, checkpoints })
    return EXIT.done
  }
  output.line(visible(`${session.id}  ${session.status}  ${session.mode}`))
  output.table(
    session.memory.map(({ key, value, bytes }) => [key, bytes === null ? JSON.stringify(value) : `${bytes} bytes`]),
  )
  output.table(
    checkpoints.items.map(({ seq, at: when, kind, id, changes }) => [
      String(seq),
      when,
      kind,
      id ?? '',
      `${changes} changes`,
    ]),
  )
  return EXIT.done
}
