/**
 * The actual starts of throttled runs: each run asks here before its handler is first entered, and reports when it was.
 *
 * Owns the book of a throttle (a gate that is never claimed and that no event reaches), and the place of each run that has not begun: a
 * document that is removed with its first entry. Requests of one process to one book share an append. The rule is
 * model/flow/policies/starts.ts.
 *
 * starts-3  A start is granted in an append that fails if another process has written to the book: then it is decided again.
 */
import type { EngineContext, StartApi, StartingRun } from '#engine/core/engine-context.ts'
import { commitOnce } from '#engine/core/single-append.ts'
import { retryStore } from '#engine/core/store-retry.ts'
import type { GateFact } from '#model/flow/gate-fact.ts'
import {
  askStart,
  type Starts as KnownStarts,
  makeStart,
  recordStart,
  START_TABLE,
  type StartFact,
  type StartPlace,
  startsOf,
} from '#model/flow/policies/starts.ts'
import type { ThrottlePolicy } from '#model/flow/policies/throttle.ts'
import { entriesOf } from '#model/kernel/due-map.ts'
import { TrihandError } from '#model/kernel/errors.ts'
import { readRunFact } from '#model/kernel/fact-codec.ts'
import { type GateId, gateId, type Instant, type RunId } from '#model/kernel/ids.ts'
import { isJsonRecord, type Json } from '#model/kernel/json.ts'
import { fold } from '#model/kernel/machine.ts'
import { isUntouched, run as runMachine } from '#model/run/run.ts'
import type { DocumentWrite } from '#ports/ledger.ts'
import { type Budget, budgetWith, lookAtBudget } from './shared-budget.ts'

/** Maximum number of requests in one append. */
const MAX_ASKS = 256
/** A run that may begin within this time waits in memory. */
const STAY_MS = 50
/** After this time a start that was granted but not made is checked: its worker may have died, or the run may have ended. */
const OVERDUE_MS = 1_000

/** `free`: the run needs no start. An instant: the run asks again then. */
type StartAnswer = 'now' | 'free' | Instant

/** What a run reports: it asks to begin; it has begun; it was granted a start and cannot use it. */
type Saying = 'asks' | 'made' | 'spent'

interface Ask {
  readonly run: RunId
  readonly saying: Saying
  readonly resolve: (answer: StartAnswer) => void
  readonly reject: (error: unknown) => void
}

interface Decided {
  readonly facts: readonly StartFact[]
  readonly answers: readonly StartAnswer[]
  readonly documents: readonly DocumentWrite[]
}

interface Book {
  readonly id: GateId
  readonly handler: string
  throttle: ThrottlePolicy
  readonly asks: Ask[]
  isBusy: boolean
}

/** Documents with the keys and costs of runs that a gate has created and whose starts are throttled. */
export const startPlaces = (tenant: EngineContext['tenant'], facts: readonly GateFact[]): readonly DocumentWrite[] =>
  facts.flatMap((fact) => {
    const turn = fact.type === 'gate.started' ? (fact.turn ?? fact.sharedTurn) : null
    if (fact.type !== 'gate.started' || turn == null) return []
    const place: StartPlace = { key: turn.key, cost: fact.cost ?? 1, at: fact.notBefore ?? fact.at, generation: null }
    return [placeDocument(tenant, fact.run, place)]
  })

const placeDocument = (tenant: EngineContext['tenant'], key: RunId, value: StartPlace | null): DocumentWrite => ({
  tenant,
  table: START_TABLE,
  key,
  value: value as unknown as Json,
})

const throttleOf = ({ system }: Pick<EngineContext, 'system'>, handler: string): ThrottlePolicy | null =>
  system().functions.get(handler)?.flow?.policies.throttle ?? null

/** A request with the stored place of the run; null if the run needs no start. */
type Placed = Ask & { readonly place: StartPlace | null }

type Given = readonly [key: string, run: RunId]

const overdueOf = (starts: KnownStarts, keys: ReadonlySet<string>, now: Instant): readonly Given[] =>
  [...keys].flatMap((key) =>
    entriesOf(startsOf(starts, key).given).flatMap(([run, { at }]) =>
      now - at < OVERDUE_MS ? [] : [[key, run as RunId] as const],
    ),
  )

export class Starts implements StartApi {
  private readonly context: () => EngineContext
  private readonly books = new Map<string, Book>()

  constructor(context: () => EngineContext) {
    this.context = context
  }

  holds({ record, live }: StartingRun): boolean {
    return live !== null && isUntouched(live) && throttleOf(this.context(), record.handler) !== null
  }

  async admit({ record }: StartingRun, isOpen: () => boolean): Promise<Instant | 'now' | 'free' | 'never'> {
    const { clock } = this.context()
    const { id: run, handler } = record
    for (;;) {
      const answer = await this.ask(handler, run, 'asks')
      if (answer === 'now' && !isOpen()) {
        this.say(handler, run, 'spent')
        return 'never'
      }
      if (answer === 'now' || answer === 'free') return answer
      const now = clock.now()
      if (answer - now > STAY_MS) return answer
      await new Promise<void>((resolve) => void clock.at(Math.max(answer, now + 1), resolve))
      if (!isOpen()) return 'never'
    }
  }

  made({ record }: StartingRun): void {
    this.say(record.handler, record.id, 'made')
  }

  private say(handler: string, run: RunId, saying: Saying): void {
    const said = retryStore(
      this.context(),
      () => true,
      () => this.ask(handler, run, saying),
    )
    // If the report fails, the runs that wait behind this start find it (lost).
    said.catch(() => {})
  }

  private async placed(ask: Ask): Promise<Placed> {
    const { document, tenant } = this.context()
    const value = await document(tenant, START_TABLE, ask.run)
    return { ...ask, place: isJsonRecord(value) ? (value as unknown as StartPlace) : null }
  }

  private bookOf(throttle: ThrottlePolicy, handler: string): Book {
    const name = throttle.shared === undefined ? `of.${handler}` : `shared.${throttle.shared}`
    const known = this.books.get(name)
    if (known !== undefined) {
      known.throttle = throttle
      return known
    }
    const { ids, tenant } = this.context()
    const id = gateId(ids.digest(`starts\n${tenant}\n${name}`))
    const book: Book = { id, handler: `limits.starts.${name}`, throttle, asks: [], isBusy: false }
    this.books.set(name, book)
    return book
  }

  private ask(handler: string, run: RunId, saying: Saying): Promise<StartAnswer> {
    const throttle = throttleOf(this.context(), handler)
    if (throttle === null) return Promise.resolve('free')
    const book = this.bookOf(throttle, handler)
    return new Promise((resolve, reject) => {
      book.asks.push({ run, saying, resolve, reject })
      if (!book.isBusy) void this.answerAll(book)
    })
  }

  private async answerAll(book: Book): Promise<void> {
    book.isBusy = true
    while (book.asks.length > 0) {
      const asks = book.asks.splice(0, MAX_ASKS)
      try {
        await this.answer(book, asks)
      } catch (error) {
        for (const { reject } of asks) reject(error)
      }
    }
    book.isBusy = false
  }

  private async answer(book: Book, asks: readonly Ask[]): Promise<void> {
    const context = this.context()
    const placed = await Promise.all(asks.map((ask) => this.placed(ask)))
    placed.sort((one, other) => (one.place?.at ?? 0) - (other.place?.at ?? 0))
    for (;;) {
      const budget = await lookAtBudget(context, book)
      const now = Math.max(context.clock.now(), budget.record?.facts.at(-1)?.recordedAt ?? 0)
      const { facts, answers, documents } = await this.answersTo(budget, book.throttle, placed, now)
      if (facts.length > 0 && !(await this.write(budget, { facts, documents, now }))) continue
      for (const [i, { resolve }] of placed.entries()) resolve(answers[i] ?? 'free')
      return
    }
  }

  private async answersTo(
    { state }: Budget,
    throttle: ThrottlePolicy,
    asks: readonly Placed[],
    now: Instant,
  ): Promise<Decided> {
    const { tenant } = this.context()
    let starts: KnownStarts = (state.kind === 'open' ? state.starts : undefined) ?? []
    const facts: StartFact[] = []
    const documents: DocumentWrite[] = []
    const record = (fact: StartFact | null): void => {
      if (fact === null) return
      facts.push(fact)
      starts = recordStart(starts, fact)
    }
    // Runs that have begun count first: they make room for the runs that ask.
    for (const { run, place, saying } of asks) {
      if (saying === 'asks' || place === null) continue
      record(makeStart(starts, throttle, { run, key: place.key, now }))
      if (saying === 'made') documents.push(placeDocument(tenant, run, null))
    }
    const overdue = overdueOf(starts, new Set(asks.flatMap(({ place }) => place?.key ?? [])), now)
    const lost = await this.lost(overdue)
    for (const [key, run] of lost) record(makeStart(starts, throttle, { key, run, now }))
    const stuck = new Set(overdue.filter((one) => !lost.includes(one)).map(([key]) => key))
    const answers = asks.map(({ run, place, saying }): StartAnswer => {
      if (place === null || saying !== 'asks') return 'free'
      const { wait, fact } = askStart(starts, throttle, { run, place, now })
      record(fact)
      if (wait === null) return 'now'
      // Runs behind a start whose worker may be dead do not ask every few milliseconds.
      const at = stuck.has(place.key) ? Math.max(wait.until, now + OVERDUE_MS) : wait.until
      if (fact !== null) documents.push(placeDocument(tenant, run, { ...place, at, generation: wait.generation }))
      return at
    })
    return { facts, answers, documents }
  }

  /** Returns the starts granted to runs that have ended, do not exist or may not begin, or that have begun without a report. */
  private async lost(overdue: readonly Given[]): Promise<readonly Given[]> {
    if (overdue.length === 0) return []
    const records = await this.context().ledger.load(overdue.map(([, run]) => run))
    return overdue.filter((_, i) => {
      const record = records[i]
      const state = record == null ? null : fold(runMachine, record.facts.map(readRunFact))
      return state?.kind !== 'live' || !isUntouched(state) || state.pause !== null || state.cancel !== null
    })
  }

  /** starts-3: returns false if another process was faster. */
  private async write(
    budget: Budget,
    { facts, documents, now }: Pick<Decided, 'facts' | 'documents'> & { readonly now: Instant },
  ): Promise<boolean> {
    const context = this.context()
    const write = budgetWith(context, budget, { type: 'record_starts', now, starts: facts })
    const append = { appendId: context.appendId(), writes: [write], events: [], signals: [], documents }
    const outcome = await commitOnce(context.commit, append)
    if (outcome.kind !== 'conflict') return true
    if (outcome.reason === 'version' && outcome.stream === budget.id) return false
    throw new TrihandError('LEDGER_CONFLICT', `the start budget ${budget.id} could not be written: ${outcome.reason}`)
  }
}
