/**
 * A proxy between a client and its Postgres that cuts the connection around the message that carries an append.
 *
 * Owns the cutting and counts the cuts. Looks for a mark in the bytes instead of parsing the protocol, so it knows nothing about the
 * adapter. Never changes a byte that it passes on.
 *
 * before      the message never reaches the server
 * half        the server gets a part of the message
 * after       the server gets it; the answer is dropped and the connection cut within 3 ms: the outcome is unknown
 * answered    the answer is on its way to the client and cut off in the middle
 * black_hole  the server gets it and the client never gets an answer; the connection stays up
 */
import { connect, createServer, type Server, type Socket } from 'node:net'
import type { Random } from '#test/support/random.ts'
import { pause } from '#test/support/until.ts'

export type Cut =
  | { readonly kind: 'before' | 'half' | 'black_hole' }
  | { readonly kind: 'after'; readonly delayMs: number }
  | { readonly kind: 'answered'; readonly bytes: number }

const MAX_DELAY_MS = 3
const MAX_ANSWER_BYTES = 200

interface Wire {
  readonly client: Socket
  readonly server: Socket
  /** Answers still pass. */
  isOpen: boolean
  /** How many bytes of the next answer may pass before the connection is cut; null: all. */
  answerBytes: number | null
}

export class PgProxy {
  readonly #target: URL
  readonly #mark: string
  readonly #listener: Server
  readonly #wires = new Set<Wire>()
  #armed: Cut | null = null
  readonly fired = new Map<Cut['kind'], number>()

  /** `mark`: bytes that only a message with an append contains; empty for any message. */
  constructor(target: string, mark: string) {
    this.#target = new URL(target)
    this.#mark = mark
    this.#listener = createServer((client) => this.#accept(client))
  }

  /** The same database, through this proxy. */
  async open(): Promise<string> {
    await new Promise<void>((resolve) => this.#listener.listen(0, '127.0.0.1', resolve))
    const address = this.#listener.address()
    if (address === null || typeof address === 'string') throw new Error('the proxy has no port')
    const url = new URL(this.#target)
    url.hostname = '127.0.0.1'
    url.port = String(address.port)
    return url.href
  }

  /** The cut for the next message with the mark. */
  arm(cut: Cut): void {
    this.#armed = cut
  }

  /** For a client that should fail because it cannot open its ledger. */
  disarm(): void {
    this.#armed = null
  }

  async close(): Promise<void> {
    for (const wire of this.#wires) this.#cut(wire)
    await new Promise<void>((resolve) => this.#listener.close(() => resolve()))
  }

  #accept(client: Socket): void {
    const server = connect({ host: this.#target.hostname, port: Number(this.#target.port) })
    const wire: Wire = { client, server, isOpen: true, answerBytes: null }
    this.#wires.add(wire)
    client.setNoDelay(true)
    server.setNoDelay(true)
    client.on('data', (chunk) => this.#fromClient(wire, chunk))
    server.on('data', (chunk) => this.#fromServer(wire, chunk))
    for (const socket of [client, server]) {
      socket.on('error', () => this.#cut(wire))
      socket.on('close', () => this.#cut(wire))
    }
  }

  #fromClient(wire: Wire, chunk: Buffer): void {
    const cut = this.#armed
    if (cut === null || !chunk.includes(this.#mark)) {
      wire.server.write(chunk)
      return
    }
    this.#armed = null
    this.fired.set(cut.kind, (this.fired.get(cut.kind) ?? 0) + 1)
    void this.#meet(wire, chunk, cut)
  }

  async #meet(wire: Wire, chunk: Buffer, cut: Cut): Promise<void> {
    wire.isOpen = cut.kind === 'answered'
    switch (cut.kind) {
      case 'before':
        break
      case 'half':
        await written(wire.server, chunk.subarray(0, Math.floor(chunk.length / 2)))
        break
      case 'after':
        wire.server.write(chunk)
        await pause(cut.delayMs)
        break
      case 'answered':
        wire.answerBytes = cut.bytes
        wire.server.write(chunk)
        return
      case 'black_hole':
        wire.server.write(chunk)
        return
    }
    this.#cut(wire)
  }

  #fromServer(wire: Wire, chunk: Buffer): void {
    if (!wire.isOpen) return
    if (wire.answerBytes === null) {
      wire.client.write(chunk)
      return
    }
    wire.isOpen = false
    wire.client.write(chunk.subarray(0, wire.answerBytes), () => this.#cut(wire))
  }

  #cut(wire: Wire): void {
    wire.isOpen = false
    this.#wires.delete(wire)
    wire.client.destroy()
    wire.server.destroy()
  }
}

const written = (socket: Socket, bytes: Buffer): Promise<void> =>
  new Promise((resolve) => socket.write(bytes, () => resolve()))

/** Any cut but the black hole, which costs a client its whole timeout. */
export const randomCut = (random: Random): Cut => {
  const roll = random.roll()
  if (roll < 0.1) return { kind: 'before' }
  if (roll < 0.2) return { kind: 'half' }
  if (roll < 0.4) return { kind: 'answered', bytes: random.below(MAX_ANSWER_BYTES) }
  return { kind: 'after', delayMs: random.below(MAX_DELAY_MS + 1) }
}
