/**
 * Receives the example's mails: appends one line each to a file beside the ledger. A real system would call its mail service here.
 *
 * A mail whose key is already in the file is not sent again, like a mail service does with the key of a request.
 */
import { appendFile, mkdir, readFile } from 'node:fs/promises'

export interface Mail {
  readonly to: string
  readonly body: string
}

const FOLDER = process.env['TRIHAND_DATA'] ?? '.trihand'
const FILE = `${FOLDER}/mails.jsonl`

export const deliver = async (mail: Mail, key: string): Promise<void> => {
  await mkdir(FOLDER, { recursive: true })
  const sent = await readFile(FILE, 'utf8').catch(() => '')
  if (!sent.includes(JSON.stringify(key))) await appendFile(FILE, `${JSON.stringify({ key, ...mail })}\n`)
}
