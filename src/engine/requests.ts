/**
 * Requests that carry a key: each does its work once, and whoever sends it again gets the first answer.
 *
 * Owns who may begin: the id of an event of the server itself can be taken once, in whatever process. The answer is a document. What a
 * request does is its route's.
 *
 * requests-1  Of many requests with one key one begins; the others are told that it is at work, or what it answered.
 * requests-2  A key is bound to what was sent with it first.
 * requests-3  Work that certainly was not done gives its key back; if nobody knows, the key stays taken.
 * requests-4  An answer that is forgotten frees its key for other work; its next turn is remembered, since the event of each turn stays.
 */
import { TrihandError } from '../model/errors.ts'
import { SERVER_TENANT } from '../model/ids.ts'
import { isJsonRecord, type Json } from '../model/json.ts'
import type { Clock } from '../ports/clock.ts'
import type { Ids } from '../ports/ids.ts'
import type { DocumentWrite } from '../ports/ledger.ts'
import type { Document, Reader } from '../ports/reader.ts'
import type { IncomingEvent, Receipt, SendOptions } from './intake.ts'

export interface RequestsDeps {
  /** As the server itself, for no tenant. */
  send(event: IncomingEvent, options: SendOptions): Promise<Receipt>
  note(documents: readonly DocumentWrite[]): Promise<void>
  readonly reader: Pick<Reader, 'document' | 'documents'>
  readonly ids: Pick<Ids, 'digest'>
  readonly clock: Pick<Clock, 'now'>
}

export interface Keyed {
  /** Who asks for what under which key: two that differ anywhere are two requests. */
  readonly scope: readonly string[]
  /** What was sent. */
  readonly content: string
}

export interface Taken {
  readonly name: string
  readonly content: string
  readonly turn: number
}

const TABLE = 'trihand.request'
/** Keys whose answers are forgotten, each with its next turn. */
const FORGOTTEN = 'trihand.request.forgotten'
const PAGE = 200
const TYPE = 'trihand.request.began'
const SOURCE = 'trihand'

const mismatch = (): TrihandError =>
  new TrihandError('IDEMPOTENCY_MISMATCH', 'the key was used before, for something else')

/** The turn after the one that was answered; one that was given back names its next already. */
const forgotten = ({ key, value }: Document): readonly DocumentWrite[] => {
  const { turn = 0, answer = null } = isJsonRecord(value) ? value : {}
  const next = Number(turn) + (answer === null ? 0 : 1)
  return [
    { tenant: SERVER_TENANT, table: TABLE, key, value: null },
    { tenant: SERVER_TENANT, table: FORGOTTEN, key, value: { turn: next } },
  ]
}

export class Requests {
  private readonly deps: RequestsDeps

  constructor(deps: RequestsDeps) {
    this.deps = deps
  }

  /** The first answer; or the right to work, which `answer` or `release` ends. */
  async begin({ scope, content }: Keyed): Promise<{ readonly answer: Json } | { readonly taken: Taken }> {
    const { ids, reader } = this.deps
    const name = ids.digest(JSON.stringify(scope))
    const hash = ids.digest(content)
    const known =
      (await reader.document(SERVER_TENANT, TABLE, name)) ?? (await reader.document(SERVER_TENANT, FORGOTTEN, name))
    const { answer = null, turn = 0, content: first = hash } = isJsonRecord(known) ? known : {}
    if (first !== hash) throw mismatch()
    if (answer !== null) return { answer }
    const taken = { name, content: hash, turn: Number(turn) }
    await this.take(taken)
    return { taken }
  }

  async answer({ name, content, turn }: Taken, answer: Json): Promise<void> {
    await this.put(name, { content, turn, answer })
  }

  async release({ name, content, turn }: Taken): Promise<void> {
    await this.put(name, { content, turn: turn + 1, answer: null })
  }

  private async take({ name, content, turn }: Taken): Promise<void> {
    const event = { type: TYPE, source: SOURCE, id: `${name}.${turn}`, data: { content } }
    try {
      const { duplicate } = await this.deps.send(event, { isOwn: true })
      if (!duplicate) return
    } catch (error) {
      if (error instanceof TrihandError && error.code === 'EVENT_ID_REUSED') throw mismatch()
      throw error
    }
    const detail = 'a request with this key is at work, or was when its server ended: then nobody knows what it did'
    throw new TrihandError('REQUEST_IN_PROGRESS', detail)
  }

  /** requests-4. How many answers were older. */
  async forgetOlderThan(ms: number): Promise<number> {
    const { reader, clock, note } = this.deps
    const before = clock.now() - ms
    let count = 0
    for (let after: string | null = null; ; ) {
      const page: readonly Document[] = await reader.documents({
        ...{ tenant: SERVER_TENANT, table: TABLE, after, limit: PAGE },
      })
      const old = page.filter(({ value }) => isJsonRecord(value) && Number(value['at'] ?? 0) < before)
      if (old.length > 0) await note(old.flatMap(forgotten))
      count += old.length
      after = page.at(-1)?.key ?? null
      if (page.length < PAGE) return count
    }
  }

  private put(key: string, value: { readonly [member: string]: Json }): Promise<void> {
    const at = this.deps.clock.now()
    return this.deps.note([{ tenant: SERVER_TENANT, table: TABLE, key, value: { ...value, at } }])
  }
}
