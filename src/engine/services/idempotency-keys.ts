/**
 * Requests with an idempotency key: each does its work once, and a repeat gets the first answer.
 *
 * An attempt claims the key with an event of the server tenant, and with a document that says which process is at work and since when. The
 * work derives ids from the key (`Work.id`, `Work.since`), so a second attempt after a crash finds what the first has created and gives the
 * same answer. Safety depends on these ids; the time limit of an attempt only decides how long a repeat has to wait.
 *
 * requests-1  At most one request per key works in a process; the others wait for its answer. Another process answers REQUEST_IN_PROGRESS
 *             while the attempt may be alive, and never for longer than the time limit.
 * requests-2  A key is bound to the content that was first sent with it.
 * requests-3  An attempt that ends without an answer frees its key: the next request does the work again, with the same ids.
 * requests-4  A deleted answer frees its key for other work; the number of its next turn is kept, because the event of each turn stays.
 * requests-5  A key that an older version claimed and never answered is refused with REQUEST_UNANSWERED after the time limit: that version
 *             did not derive ids from the key, so it is unknown what was done.
 */
import type { IncomingEvent, InnerSendOptions, Receipt } from '#engine/core/incoming.ts'
import { TrihandError } from '#model/kernel/errors.ts'
import { type Instant, SERVER_TENANT } from '#model/kernel/ids.ts'
import { isJsonRecord, type Json } from '#model/kernel/json.ts'
import type { Clock } from '#ports/clock.ts'
import type { Ids } from '#ports/ids.ts'
import type { DocumentWrite } from '#ports/ledger.ts'
import type { Document, Reader } from '#ports/reader.ts'

export interface RequestsDeps {
  /** Sends as the server itself, for no tenant. */
  send(event: IncomingEvent, options: InnerSendOptions): Promise<Receipt>
  note(documents: readonly DocumentWrite[]): Promise<void>
  readonly reader: Pick<Reader, 'document' | 'documents' | 'eventsWithId'>
  readonly ids: Pick<Ids, 'digest' | 'uuid'>
  readonly clock: Pick<Clock, 'now'>
  /** True if other processes write the same ledger. Otherwise every attempt of another process is known to be over. */
  readonly isShared: boolean
  /** How long an attempt of another process counts as alive. */
  readonly leaseMs: number
}

export interface Keyed {
  /** The caller, the operation and the key: requests that differ in any part are different requests. */
  readonly scope: readonly string[]
  /** The content of the request. */
  readonly content: string
  /** The content of the request, as older versions stored it. */
  readonly formerContent: string
}

/** One attempt at the work of a request. */
export interface Work {
  readonly name: string
  readonly content: string
  readonly turn: number
  readonly attempt: number
  /** The ids of what the work creates are derived from these two, which are the same in every attempt. */
  readonly id: string
  readonly since: Instant
  /** True if an earlier attempt may have done the work, or a part of it. */
  readonly isRepeated: boolean
}

/** The stored state of a key. */
interface Known {
  readonly content: string | null
  readonly turn: number
  readonly attempt: number
  readonly since: Instant | null
  /** The process that has been at work since `at`; null if none. */
  readonly owner: string | null
  readonly at: Instant
  readonly isDoubtful: boolean
  readonly answer: Json
}

const TABLE = 'trihand.request'
/** Table of the keys whose answers were deleted, each with its next turn. */
const FORGOTTEN = 'trihand.request.forgotten'
const PAGE = 200
const TYPE = 'trihand.request.began'
const SOURCE = 'trihand'
const SECOND_MS = 1_000

const mismatch = (): TrihandError =>
  new TrihandError('IDEMPOTENCY_MISMATCH', 'the key was used before for another request')

/** Another process is at work on the same request. */
export class RequestInProgress extends TrihandError {
  readonly waitSeconds: number

  constructor(waitMs: number) {
    super('REQUEST_IN_PROGRESS', 'another process of this server is handling a request with this key')
    this.waitSeconds = Math.max(1, Math.ceil(waitMs / SECOND_MS))
  }
}

const knownOf = (value: Json): Known => {
  const {
    content = null,
    turn = 0,
    attempt = 0,
    since = null,
    owner = null,
    at = 0,
    doubtful,
    answer = null,
  } = isJsonRecord(value) ? value : {}
  return {
    content: content as string | null,
    turn: Number(turn),
    attempt: Number(attempt),
    since: since as Instant | null,
    owner: owner as string | null,
    at: Number(at),
    isDoubtful: doubtful === true,
    answer,
  }
}

/** Deletes the answer and stores the next turn. A key that an older version released already holds its next turn. */
const forgotten = ({ key, value }: Document): readonly DocumentWrite[] => {
  const { turn, since, answer } = knownOf(value)
  const next = turn + (answer === null && since === null ? 0 : 1)
  return [
    { tenant: SERVER_TENANT, table: TABLE, key, value: null },
    { tenant: SERVER_TENANT, table: FORGOTTEN, key, value: { turn: next } },
  ]
}

interface Running {
  readonly content: string
  /** Resolves to the answer; to null if the attempt ended without one. */
  readonly over: Promise<Json>
  readonly end: (answer: Json) => void
}

export class Requests {
  private readonly deps: RequestsDeps
  /** The id of this process in documents. */
  private readonly owner: string
  private readonly running = new Map<string, Running>()

  constructor(deps: RequestsDeps) {
    this.deps = deps
    this.owner = deps.ids.uuid()
  }

  /** Returns the first answer, or the right to do the work, which `answer`, `release` or `leave` ends. */
  async begin(keyed: Keyed): Promise<{ readonly answer: Json } | { readonly work: Work }> {
    const { ids } = this.deps
    const name = ids.digest(JSON.stringify(keyed.scope))
    const content = ids.digest(keyed.content)
    for (let other = this.running.get(name); other !== undefined; other = this.running.get(name)) {
      if (other.content !== content) throw mismatch()
      const answer = await other.over
      if (answer !== null) return { answer }
    }
    this.enter(name, content)
    try {
      const begun = await this.look(name, [content, ids.digest(keyed.formerContent)])
      if ('answer' in begun) this.leave(name, begun.answer)
      return begun
    } catch (error) {
      this.leave(name)
      throw error
    }
  }

  async answer(work: Work, answer: Json): Promise<void> {
    const { name, content, turn, attempt, since } = work
    try {
      await this.put(name, { content, turn, attempt, since, answer })
    } finally {
      this.leave(name, answer)
    }
  }

  /** requests-3. `isDoubtful`: the work may have been done. If the store fails, the time limit frees the key. */
  async release({ name, content, turn, attempt, since, isRepeated }: Work, isDoubtful: boolean): Promise<void> {
    const doubtful = isRepeated || isDoubtful
    try {
      await this.put(name, { content, turn, attempt: attempt + 1, since, doubtful, answer: null })
    } catch {
      // The document still names this process as owner, but this process knows that it is not at work.
    } finally {
      this.leave(name)
    }
  }

  /** requests-4: deletes older answers. Returns how many there were. */
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

  private enter(name: string, content: string): void {
    let end: (answer: Json) => void = () => {}
    const over = new Promise<Json>((resolve) => {
      end = resolve
    })
    this.running.set(name, { content, over, end })
  }

  private leave(name: string, answer: Json = null): void {
    const running = this.running.get(name)
    this.running.delete(name)
    running?.end(answer)
  }

  private async look(
    name: string,
    [content, former]: readonly [string, string],
  ): Promise<{ readonly answer: Json } | { readonly work: Work }> {
    // `passed` counts attempts that another process has claimed and whose document was overwritten by a late release.
    for (let passed = 0; ; passed++) {
      const known = await this.read(name)
      const isOld = known.since === null
      if (known.content !== null && known.content !== content && !(isOld && known.content === former)) throw mismatch()
      if (known.answer !== null) return { answer: known.answer }
      this.requireOver(known)
      const work = this.workOf(name, content, known, passed)
      if (await this.take(work)) return { work }
      // Another process claimed it first, or an older version did and left no document.
      if ((await this.read(name)).since === null) await this.refuseOld(work)
    }
  }

  private async read(name: string): Promise<Known> {
    const { reader } = this.deps
    const value =
      (await reader.document(SERVER_TENANT, TABLE, name)) ?? (await reader.document(SERVER_TENANT, FORGOTTEN, name))
    return knownOf(value)
  }

  private workOf(name: string, content: string, known: Known, passed: number): Work {
    const { turn, attempt, since, owner, isDoubtful } = known
    const { clock, ids } = this.deps
    const isTaken = owner !== null
    return {
      ...{ name, content, turn },
      attempt: attempt + passed + (isTaken ? 1 : 0),
      id: ids.digest(JSON.stringify([name, turn])),
      since: since ?? clock.now(),
      isRepeated: isTaken || isDoubtful || passed > 0,
    }
  }

  /** Refuses while an attempt may be alive. An attempt of this process is over, because the caller has entered. */
  private requireOver({ owner, at }: Known): void {
    const { isShared, leaseMs, clock } = this.deps
    if (owner === null || owner === this.owner || !isShared) return
    const left = at + leaseMs - clock.now()
    if (left > 0) throw new RequestInProgress(left)
  }

  /** Claims the key. Returns false if another attempt has it. */
  private async take({ name, content, turn, attempt, since }: Work): Promise<boolean> {
    const { owner } = this
    const id = eventOf(name, turn, attempt)
    const event = { type: TYPE, source: SOURCE, id, data: { content } }
    const value = { content, turn, attempt, since, owner, answer: null }
    try {
      const documents = [this.document(name, value)]
      return !(await this.deps.send(event, { isOwn: true, documents })).duplicate
    } catch (error) {
      if (error instanceof TrihandError && error.code === 'EVENT_ID_REUSED') return false
      throw error
    }
  }

  /** requests-5 */
  private async refuseOld({ name, turn }: Work): Promise<never> {
    const { reader, clock, leaseMs } = this.deps
    const [began] = await reader.eventsWithId(SERVER_TENANT, eventOf(name, turn, 0))
    const left = (began?.time ?? 0) + leaseMs - clock.now()
    if (left > 0) throw new RequestInProgress(left)
    const detail = 'an older version of this server started a request with this key and stopped before it answered'
    throw new TrihandError('REQUEST_UNANSWERED', detail)
  }

  private put(key: string, value: { readonly [member: string]: Json }): Promise<void> {
    return this.deps.note([this.document(key, value)])
  }

  private document(key: string, value: { readonly [member: string]: Json }): DocumentWrite {
    return { tenant: SERVER_TENANT, table: TABLE, key, value: { ...value, at: this.deps.clock.now() } }
  }
}

/** The first attempt of a turn has the same id as in older versions, so that processes of both versions claim a turn only once. */
const eventOf = (name: string, turn: number, attempt: number): string =>
  attempt === 0 ? `${name}.${turn}` : `${name}.${turn}.${attempt}`
