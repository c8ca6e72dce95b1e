/** `trihand runs list`: runs, newest first. */
import { withApi } from '#cli/connect/connect.ts'
import { type Listing, printPage, queryText } from '#cli/terminal/listing.ts'
import type { CommonFlags, Verb } from '#cli/terminal/shell.ts'
import type { Run } from '#http/openapi/api.ts'
import type { Page } from '#http/server/query.ts'

export interface RunsListFlags extends CommonFlags {
  readonly status?: string
  readonly handler?: string
  readonly session?: string
  readonly limit?: string
  readonly cursor?: string
}

const LISTING: Listing<Run> = {
  row: (run) => [run.id, run.handler, run.status, run.created_at],
  id: (run) => run.id,
  empty: 'No runs match.',
  command: 'trihand runs list',
}

export const listRuns: Verb<RunsListFlags> = async (shell, flags) => {
  const { status, handler, session, limit, cursor } = flags
  const path = `/api/runs${queryText({ status, handler, session, limit, cursor })}`
  const page = await withApi(shell, flags, { need: 'look' }, (api) => api.get<Page<Run>>(path))
  return printPage(shell.output, page, LISTING)
}
