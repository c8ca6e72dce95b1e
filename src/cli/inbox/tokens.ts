/**
 * `trihand token create|list|revoke`: credentials for HTTP.
 *
 * Owns flags and printing. The secret is printed once, when the token is created.
 */
import { withApi } from '#cli/connect/connect.ts'
import { type Listing, printPage } from '#cli/terminal/listing.ts'
import { EXIT, visible } from '#cli/terminal/output.ts'
import type { CommonFlags, Verb } from '#cli/terminal/shell.ts'
import type { Page } from '#http/server/query.ts'

interface TokenDocument {
  readonly id: string
  readonly tenant: string
  readonly name: string
  readonly kind: string
  readonly roles: readonly string[]
  readonly groups: readonly string[]
  readonly status: string
  readonly expires_at: string
}

export interface CreateTokenFlags extends CommonFlags {
  readonly name: string
  readonly kind: string
  readonly roles: string
  readonly groups?: string
  readonly tenant?: string
  readonly expires?: string
}

export interface RevokeTokenFlags extends CommonFlags {
  readonly id: string
}

const LISTING: Listing<TokenDocument> = {
  row: ({ id, name, kind, roles, groups, tenant, status, expires_at }) => [
    ...[id, name, kind, roles.join(','), groups.join(',') || '-', tenant, status, expires_at],
  ],
  id: ({ id }) => id,
  empty: 'No tokens. Create one: trihand token create <name> --roles viewer',
  command: 'trihand token list',
}

const wordsOf = (text: string): readonly string[] =>
  text
    .split(',')
    .map((word) => word.trim())
    .filter((word) => word !== '')

export const createToken: Verb<CreateTokenFlags> = async (shell, flags) => {
  const { name, kind, tenant, expires } = flags
  const body = {
    ...{ name, kind, roles: wordsOf(flags.roles), groups: wordsOf(flags.groups ?? '') },
    ...(tenant === undefined ? {} : { tenant }),
    ...(expires === undefined ? {} : { expires_in: expires }),
  }
  const made = await withApi(shell, flags, { need: 'look', mayCreate: true }, (api) =>
    api.post<TokenDocument & { readonly token: string }>('/api/tokens', body),
  )
  const { output } = shell
  if (output.isJson) output.document(made)
  else output.line(made.token)
  output.talk(
    visible(`${made.id} for ${made.name} (${made.roles.join(', ')}), until ${made.expires_at}; shown only once`),
  )
  return EXIT.done
}

export const listTokens: Verb<CommonFlags> = async (shell, flags) =>
  printPage(
    shell.output,
    await withApi(shell, flags, { need: 'look' }, (api) => api.get<Page<TokenDocument>>('/api/tokens')),
    LISTING,
  )

export const revokeToken: Verb<RevokeTokenFlags> = async (shell, flags) => {
  const path = `/api/tokens/${encodeURIComponent(flags.id)}`
  const token = await withApi(shell, flags, { need: 'look' }, (api) => api.delete<TokenDocument>(path))
  if (shell.output.isJson) shell.output.document(token)
  else shell.output.line(visible(`${token.id} of ${token.name} is ${token.status}`))
  return EXIT.done
}
