/**
 * `trihand backup <file>`: writes a consistent copy of a SQLite ledger to a file, also while a server is running.
 *
 * Owns the choice of the ledger and the refusals. A backup is a ledger: `trihand verify --file` checks it, `--database` opens it.
 */
import { existsSync, statSync } from 'node:fs'
import { liveServer } from '#cli/connect/connect.ts'
import { defaultLedger } from '#cli/connect/settings.ts'
import { EXIT, visible } from '#cli/terminal/output.ts'
import type { CommonFlags, Shell, Verb } from '#cli/terminal/shell.ts'
import { ledgerChoice } from '#compose/config.ts'
import { backUp } from '#compose/stores.ts'
import { TrihandError } from '#model/kernel/errors.ts'

export interface BackupFlags extends Pick<CommonFlags, 'database'> {
  readonly file: string
}

const ledgerFile = async ({ settings }: Shell, { database }: BackupFlags): Promise<string> => {
  const server = database === undefined ? await liveServer(settings.dataFolder) : null
  const choice = ledgerChoice(database ?? server?.ledger ?? defaultLedger(settings))
  if (choice.kind === 'postgres')
    throw new TrihandError('CONFIG_INVALID', 'this is a Postgres ledger: back it up with pg_dump')
  if (choice.kind === 'memory') throw new TrihandError('CONFIG_INVALID', 'a ledger in memory cannot be backed up')
  if (!existsSync(choice.file)) throw new TrihandError('CONFIG_INVALID', `the ledger ${choice.file} does not exist`)
  return choice.file
}

const refuseExisting = (file: string): void => {
  if (existsSync(file)) throw new TrihandError('CONFIG_INVALID', `${file} exists; name a new file`)
}

export const backup: Verb<BackupFlags> = async (shell, flags) => {
  const { output } = shell
  refuseExisting(flags.file)
  const ledger = await ledgerFile(shell, flags)
  await backUp(ledger, flags.file)
  const bytes = statSync(flags.file).size
  if (output.isJson) output.document({ ledger, file: flags.file, bytes })
  else output.line(visible(`${flags.file}: ${bytes} bytes, a copy of ${ledger}`))
  output.talk(visible(`check it with: trihand verify --file ${flags.file}`))
  return EXIT.done
}
