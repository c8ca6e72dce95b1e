/** `trihand manifest versions`: the definitions of the system that were loaded with this ledger, and the number of open runs of each. */
import { withApi } from '#cli/connect/connect.ts'
import { type Listing, printPage } from '#cli/terminal/listing.ts'
import type { CommonFlags, Verb } from '#cli/terminal/shell.ts'
import type { ManifestVersion } from '#http/openapi/api.ts'
import type { Page } from '#http/server/query.ts'

const LISTING: Listing<ManifestVersion> = {
  row: ({ hash, name, is_current, first_seen_at, open_runs, more }) => [
    hash,
    is_current ? 'current' : '-',
    first_seen_at ?? '-',
    `${open_runs}${more ? '+' : ''} open runs`,
    name ?? '-',
  ],
  id: ({ hash }) => hash,
  empty: 'This ledger has not run any definition yet.',
  command: 'trihand manifest versions',
}

export const listVersions: Verb<CommonFlags> = async (shell, flags) => {
  const path = '/api/manifest/versions'
  const page = await withApi(shell, flags, { need: 'know' }, (api) => api.get<Page<ManifestVersion>>(path))
  return printPage(shell.output, page, LISTING)
}
