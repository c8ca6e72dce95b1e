/**
 * `trihand rekey`: re-encrypts all payloads of a ledger with the first key of TRIHAND_LEDGER_KEY, while every process is stopped.
 *
 * An interrupted call can be repeated and continues. Exit 0 when the old keys are not needed any more, 1 if some payloads cannot be
 * decrypted.
 */
import { existsSync } from 'node:fs'
import { defaultLedger } from '#cli/connect/settings.ts'
import { EXIT, visible } from '#cli/terminal/output.ts'
import type { CommonFlags, Verb } from '#cli/terminal/shell.ts'
import { ledgerChoice } from '#compose/config.ts'
import { rekeyLedger } from '#compose/rekey.ts'
import { TrihandError } from '#model/kernel/errors.ts'

export interface RekeyFlags extends Pick<CommonFlags, 'database'> {
  readonly schema?: string
}

/** The number of payloads between two progress lines. */
const TOLD_EVERY = 10_000

export const rekey: Verb<RekeyFlags> = async ({ output, settings, env }, { database, schema }) => {
  const choice = ledgerChoice(database ?? defaultLedger(settings))
  if (choice.kind === 'sqlite' && !existsSync(choice.file))
    throw new TrihandError('CONFIG_INVALID', `the ledger ${choice.file} does not exist`)
  let [count, told] = [0, 0]
  const report = await rekeyLedger({
    ...{ choice, schema, environment: env },
    onProgress: ({ table, changed }) => {
      if (count === 0 || count + changed >= told + TOLD_EVERY) {
        told = count + changed
        output.talk(`${told} payloads encrypted, in table ${table}`)
      }
      count += changed
    },
  })
  if (output.isJson) output.document(report)
  else output.line(visible(`${count} payloads are now encrypted with key ${report.key}`))
  if (report.broken > 0) {
    output.talk(
      `${report.broken} payloads cannot be decrypted and were not changed: run \`trihand verify\`, restore them, then run this again`,
    )
    return EXIT.no
  }
  output.talk('TRIHAND_LEDGER_KEY now needs only its first key; older backups still need the other keys')
  return EXIT.done
}
