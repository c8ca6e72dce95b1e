/**
 * Receives the example's mails: appends one line each to a file beside the ledger. A real system would call its mail service here.
 *
 * The key makes a mail that is sent again after a crash recognisable.
 */
import { appendFile, mkdir } from 'node:fs/promises'

export interface Mail {
  readonly to: string
  readonly subject: string
  readonly body: string
}

const FOLDER = process.env['TRIHAND_DATA'] ?? '.trihand'

export const deliver = async (mail: Mail, key: string): Promise<void> => {
  await mkdir(FOLDER, { recursive: true })
  await appendFile(`${FOLDER}/mails.jsonl`, `${JSON.stringify({ key, ...mail })}\n`)
}
