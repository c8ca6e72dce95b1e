/**
 * The contract of every source, which watches something outside and sends events to the engine; and the one way to send them.
 *
 * Owns how an occurrence becomes an event exactly once. A source has start and stop, both safe to call twice; it never writes the ledger itself
 * and never starts a run.
 *
 * source-1  The same occurrence has the same event id, and what the source stores about it is written with the event: a crash in between does no
 *           harm, and neither do two processes that watch the same thing.
 * source-2  An occurrence that the engine refuses for good is recorded as refused and skipped; an occurrence that fails because of the store is
 *           not.
 */
import type { IncomingEvent, InnerSendOptions, Receipt } from '#engine/core/incoming.ts'
import { TrihandError } from '#model/kernel/errors.ts'
import type { Instant, TenantId } from '#model/kernel/ids.ts'
import type { Json } from '#model/kernel/json.ts'
import type { Clock } from '#ports/clock.ts'
import type { Ids } from '#ports/ids.ts'
import type { DocumentWrite } from '#ports/ledger.ts'
import type { Reader } from '#ports/reader.ts'

export interface Source {
  readonly name: string
  start(): Promise<void>
  stop(): Promise<void>
}

export interface SourceDeps {
  send(event: IncomingEvent, options: InnerSendOptions): Promise<Receipt>
  note(documents: readonly DocumentWrite[]): Promise<void>
  readonly reader: Pick<Reader, 'document'>
  readonly clock: Clock
  readonly ids: Ids
  readonly tenant: TenantId
  /** Receives errors that the source survives. */
  report(source: string, error: unknown): void
}

/** Something that happened outside. */
export interface Occurrence {
  readonly type: string
  readonly id: string
  readonly data: Json
  readonly subject?: string
  readonly time?: Instant
}

const REFUSED = 'trihand.trigger.refused'
const TABLE = 'trihand.source'
const KEY_DIGITS = 22

/** The last seen state of a source, in small documents of its own. */
export class SourceMemory {
  readonly #deps: Pick<SourceDeps, 'reader' | 'tenant'>
  readonly #prefix: string

  constructor(deps: Pick<SourceDeps, 'reader' | 'tenant' | 'ids'>, source: string) {
    this.#deps = deps
    this.#prefix = deps.ids.digest(source).slice(0, KEY_DIGITS)
  }

  recall(part: string): Promise<Json | null> {
    return this.#deps.reader.document(this.#deps.tenant, TABLE, this.#key(part))
  }

  note(part: string, value: Json): DocumentWrite {
    return { tenant: this.#deps.tenant, table: TABLE, key: this.#key(part), value }
  }

  #key(part: string): string {
    return `${this.#prefix}/${part}`
  }
}

const TRY_AGAIN_MS = 1_000

/** Retries the work while the store is in trouble, until it is done or the source stops. */
export const retryUntilStored = async (
  deps: Pick<SourceDeps, 'clock' | 'report'>,
  source: string,
  isOver: () => boolean,
  work: () => Promise<void>,
): Promise<void> => {
  while (!isOver()) {
    try {
      return await work()
    } catch (error) {
      deps.report(source, error)
      await new Promise<void>((resolve) => deps.clock.at(deps.clock.now() + TRY_AGAIN_MS, resolve))
    }
  }
}

/** True for an error that the same event would meet again. */
const isFinal = (error: unknown): error is TrihandError => error instanceof TrihandError && !error.retryable

/** Differs from the occurrence's own id: once the cause is fixed, the occurrence may still become an event. */
export const refusedId = (occurrence: string): string => `refused/${occurrence}`

const refusal = (source: string, occurrence: Occurrence, error: TrihandError): IncomingEvent => ({
  type: REFUSED,
  source,
  id: refusedId(occurrence.id),
  data: { trigger: source, delivery: occurrence.id, code: error.code, detail: error.detail },
})

/** source-1, source-2. Returns true if the event is new. */
export const sendOccurrence = async (
  deps: SourceDeps,
  source: string,
  occurrence: Occurrence,
  documents: readonly DocumentWrite[],
): Promise<boolean> => {
  try {
    const { duplicate } = await deps.send({ source, ...occurrence }, { documents, isOwn: true })
    if (duplicate && documents.length > 0) await deps.note(documents)
    return !duplicate
  } catch (error) {
    if (!isFinal(error)) throw error
    if (error.code !== 'EVENT_ID_REUSED') await refuse(deps, source, occurrence, error, documents)
    else if (documents.length > 0) await deps.note(documents)
    return false
  }
}

/** Records that an occurrence started nothing, and why: once, however often it comes again. */
export const refuse = async (
  deps: Pick<SourceDeps, 'send' | 'note'>,
  source: string,
  occurrence: Occurrence,
  error: TrihandError,
  documents: readonly DocumentWrite[],
): Promise<void> => {
  const again = async (): Promise<void> => (documents.length > 0 ? deps.note(documents) : undefined)
  try {
    const { duplicate } = await deps.send(refusal(source, occurrence, error), { documents, isOwn: true })
    if (duplicate) await again()
  } catch (trouble) {
    if (!isFinal(trouble) || trouble.code !== 'EVENT_ID_REUSED') throw trouble
    await again()
  }
}
