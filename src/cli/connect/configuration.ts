/**
 * The settings of a serving process and their sources: a flag, the environment, the file `.env`, or the default.
 *
 * Shows the settings of a server (model/kernel/setting.ts). A secret is never shown, only that it is set.
 */
import type { ConfiguredSetting } from '#http/openapi/api.ts'
import { SETTINGS, type Setting } from '#model/kernel/setting.ts'
import type { Environment } from './settings.ts'

/** Removes the credentials before the @ of an address, and everything after a question mark. */
const shown = (value: string): string => value.replace(/\/\/[^@/]*@/, '//').replace(/\?.*$/, '')

export interface Said {
  readonly env: Environment
  /** Names that were set by the file `.env`. */
  readonly fromFile: ReadonlySet<string>
  /** By the names of the settings that they override. */
  readonly flags: Environment
}

const settingOf = ({ name, meaning, usual, isSecret = false }: Setting, { env, fromFile, flags }: Said) => {
  const [flag, variable] = [flags[name] ?? '', env[name] ?? '']
  const value = flag === '' ? variable : flag
  const source = flag !== '' ? 'flag' : variable === '' ? 'default' : fromFile.has(name) ? '.env' : 'environment'
  const visible = value === '' ? (usual ?? null) : isSecret ? null : shown(value)
  return { name, meaning, value: visible, source, is_secret: isSecret } satisfies ConfiguredSetting
}

export const configurationOf = (said: Said): readonly ConfiguredSetting[] =>
  SETTINGS.filter(({ reader }) => reader === 'server').map((setting) => settingOf(setting, said))
