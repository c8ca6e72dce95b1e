/**
 * The mail service of the campaign: accepts a mail, records it, and delays the answer.
 *
 * Owns the count of sent mails. Runs in the process that is never killed; the example reaches it through the file `SINK`.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Random } from '#test/support/random.ts'
import { pause } from '#test/support/until.ts'
import type { Moments } from './moments.ts'

export interface SentMail {
  readonly key: string
  readonly to: string
  readonly subject: string
}

/** Replaces the example's own mail-sink.ts. */
export const SINK = `export const deliver = async (mail: object, key: string): Promise<void> => {
  const body = JSON.stringify({ key, ...mail })
  const response = await fetch(String(process.env['MAIL_SERVICE']), { method: 'POST', body })
  if (!response.ok) throw new Error('the mail service answered ' + response.status)
}
`

/** A kill during the delay of the answer leaves the outcome unknown. */
const MAX_ANSWER_MS = 25

export class MailService {
  readonly #random: Random
  readonly #moments: Moments
  readonly #server: Server
  readonly mails: SentMail[] = []
  /** Accepts mails without answering. */
  isSilent = false

  constructor(random: Random, moments: Moments) {
    this.#random = random
    this.#moments = moments
    this.#server = createServer(
      (request, response) => void this.#take(request, response).catch(() => response.destroy()),
    )
  }

  async open(): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve))
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  /** What a careful person looks up before they answer whether it happened. */
  hasSent(key: string): boolean {
    return this.mails.some((mail) => mail.key === key)
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise<void>((resolve) => this.#server.close(() => resolve()))
  }

  async #take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    let text = ''
    for await (const chunk of request) text += chunk
    const { key, to, subject } = JSON.parse(text) as SentMail
    this.mails.push({ key, to, subject })
    this.#moments.report('mail')
    await pause(this.#random.below(MAX_ANSWER_MS))
    if (!this.isSilent) response.end('taken')
  }
}
