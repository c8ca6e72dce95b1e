/** `trihand verify`: checks the ledger with the independent checker, also beside a live server. Exit 0 clean, 1 violations, 2 unreadable. */
import { liveServer } from '#cli/connect/connect.ts'
import { defaultLedger } from '#cli/connect/settings.ts'
import { visible } from '#cli/terminal/output.ts'
import type { Shell, Verb } from '#cli/terminal/shell.ts'
import { exitCodeOf, printJson, printReport } from '#cli/verify/print.ts'
import type { Report } from '#cli/verify/report.ts'
import { UnreadableLedger } from '#cli/verify/source/source.ts'
import { type Target, verifyLedger } from '#cli/verify/verify.ts'
import { ledgerChoice } from '#compose/config.ts'
import { TrihandError } from '#model/kernel/errors.ts'

export interface VerifyFlags {
  readonly file?: string
  readonly url?: string
  readonly schema?: string
  readonly anchor?: string
}

const databaseOf = async ({ settings }: Shell, flags: VerifyFlags): Promise<string> => {
  const given = flags.file ?? flags.url
  if (given !== undefined) return given
  const server = await liveServer(settings.dataFolder)
  return server?.ledger ?? defaultLedger(settings)
}

const targetOf = async (shell: Shell, flags: VerifyFlags): Promise<Target> => {
  const choice = ledgerChoice(await databaseOf(shell, flags))
  switch (choice.kind) {
    case 'sqlite':
      return { file: choice.file }
    case 'postgres':
      return { url: choice.url, ...(flags.schema === undefined ? {} : { schema: flags.schema }) }
    case 'memory':
      throw new TrihandError('CONFIG_INVALID', 'a ledger in memory cannot be read by another process')
  }
}

const judge = async ({ env }: Shell, target: Target, { anchor }: VerifyFlags): Promise<Report | Error> => {
  const [sealKey, ledgerKey] = [env['TRIHAND_SEAL_KEY'], env['TRIHAND_LEDGER_KEY']]
  try {
    return await verifyLedger(target, {
      ...(sealKey === undefined ? {} : { sealKey }),
      ...(ledgerKey === undefined ? {} : { ledgerKey }),
      ...(anchor === undefined ? {} : { anchor }),
    })
  } catch (error) {
    if (error instanceof UnreadableLedger) return error
    throw error
  }
}

export const verify: Verb<VerifyFlags> = async (shell, flags) => {
  const { output } = shell
  const outcome = await judge(shell, await targetOf(shell, flags), flags)
  if (output.isJson) output.line(printJson(outcome))
  else if (outcome instanceof Error) output.talk(visible(outcome.message))
  else for (const line of printReport(outcome).split('\n')) output.line(visible(line))
  return exitCodeOf(outcome)
}
