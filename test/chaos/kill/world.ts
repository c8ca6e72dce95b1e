/**
 * The outside world: performs effects when asked, records each before it answers, and delays the answer.
 *
 * Owns `world.jsonl`, the evidence of what really happened (V10, V11). Runs in the process that is never killed.
 */
import { createWriteStream, type WriteStream } from 'node:fs'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { Effect } from '#model/run/step.ts'
import type { Random } from '#test/support/random.ts'
import { pause } from '#test/support/until.ts'

export interface PerformedEffect {
  readonly key: string
  readonly run: string
  readonly step: string
  readonly effect: Effect
}

/** A kill during the delay of the answer leaves the outcome unknown. */
const MAX_ANSWER_MS = 12
const FAILURE_PROBABILITY = 0.03

const textOf = async (request: IncomingMessage): Promise<string> => {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks).toString()
}

export class World {
  readonly #random: Random
  readonly #server: Server
  readonly #log: WriteStream
  readonly #happened = new Set<string>()
  #performed = 0

  constructor(file: string, random: Random) {
    this.#random = random
    this.#log = createWriteStream(file, { flags: 'a' })
    this.#server = createServer(
      (request, response) => void this.#answer(request, response).catch(() => response.destroy()),
    )
  }

  get performed(): number {
    return this.#performed
  }

  async open(): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve))
    const address = this.#server.address()
    if (address === null || typeof address === 'string') throw new Error('the world has no port')
    return `http://127.0.0.1:${address.port}`
  }

  /** Everything performed is in the file once this resolves. */
  async close(): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise<void>((resolve) => this.#server.close(() => resolve()))
    await new Promise<void>((resolve) => this.#log.end(resolve))
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '/', 'http://world')
    if (url.pathname === '/happened') {
      response.end(JSON.stringify(this.#happened.has(`${url.searchParams.get('run')}/${url.searchParams.get('step')}`)))
      return
    }
    const performed = JSON.parse(await textOf(request)) as PerformedEffect
    if (performed.effect === 'idempotent' && this.#random.chance(FAILURE_PROBABILITY)) {
      response.writeHead(503).end()
      return
    }
    this.#performed += 1
    this.#happened.add(`${performed.run}/${performed.step}`)
    this.#log.write(`${JSON.stringify({ ...performed, at: Date.now() })}\n`)
    await pause(this.#random.below(MAX_ANSWER_MS))
    response.end(`${performed.step} done`)
  }
}
