/**
 * What a serving process needs where credentials are asked for: a key for logins, and a first administrator.
 *
 * Owns the key's file and the first token. Never shows a token twice: it is not kept.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Shell } from '#cli/terminal/shell.ts'
import type { Trihand } from '#compose/assemble.ts'
import { prepareFolder } from '#compose/stores.ts'
import { type AuthSettings, authSettings, LOOPBACK, needsAuth } from '#http/access/auth-settings.ts'
import { randomText } from '#http/access/random.ts'
import { TrihandError } from '#model/kernel/errors.ts'
import { LOCAL_TENANT } from '#model/kernel/ids.ts'
import type { Settings } from './settings.ts'

const FILE = 'signing-key'

const existing = (file: string): string | null => {
  try {
    return readFileSync(file, 'utf8').trim() || null
  } catch {
    return null
  }
}

/** For this folder's server alone; the first of two that start together makes it. */
const ownKey = (folder: string): string => {
  const file = join(folder, FILE)
  const known = existing(file)
  if (known !== null) return known
  prepareFolder(folder)
  try {
    writeFileSync(file, `${randomText()}${randomText()}\n`, { mode: 0o600, flag: 'wx' })
  } catch (error) {
    if (existing(file) === null) throw error
  }
  return existing(file) ?? ''
}

const signingKey = ({ signingKey: given, dataFolder }: Settings, { ledger }: Trihand): string => {
  if (given !== undefined) return given
  if (ledger.kind === 'postgres')
    throw new TrihandError('CONFIG_INVALID', 'set TRIHAND_SIGNING_KEY: servers that share a ledger must agree on it')
  return ownKey(dataFolder)
}

/** Somebody must be able to make the other tokens. */
const firstAdmin = async ({ output }: Shell, { tokens }: Trihand): Promise<void> => {
  if (await tokens.hasAny('admin')) return
  const intent = { tenant: LOCAL_TENANT, name: 'admin', kind: 'user', roles: ['admin'], groups: [] }
  const { token } = await tokens.create(intent, 'first start')
  if (output.isJson) output.document({ type: 'admin_token', token }, { isStream: true })
  else output.line(`Token   ${token} (an administrator's; shown this once)`)
}

export const openAuth = async (shell: Shell, trihand: Trihand): Promise<AuthSettings> => {
  const { host, publicUrl, metricsToken, trustsProxy } = shell.settings
  if (!needsAuth({ host, publicUrl })) return { ...LOOPBACK, metricsToken, trustsProxy }
  const settings = authSettings({ host, publicUrl }, signingKey(shell.settings, trihand))
  await firstAdmin(shell, trihand)
  return { ...settings, metricsToken, trustsProxy }
}
