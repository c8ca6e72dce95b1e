/**
 * Where the example's mails go: a file beside the ledger, one line each. A real system would call its mail service here.
 *
 * Owns the line. A mail whose key is there already is not sent again, as a mail service would do with the key of a request.
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
