/**
 * Schedules as people see them: list, next slots, and operations such as pause, resume and backfill.
 *
 * Owns nothing durable; each operation is one command to the schedule's coordinator.
 */
import type { CoordinatorRegistry } from '#engine/coordinators/registry.ts'
import type { EngineContext } from '#engine/core/engine-context.ts'
import { DAY_MS } from '#manifest/time/civil.ts'
import { nextChange, openZone } from '#manifest/time/zone.ts'
import type { Requesters } from '#model/access/requester.ts'
import { TrihandError } from '#model/kernel/errors.ts'
import type { Instant } from '#model/kernel/ids.ts'
import type { LastRun, ScheduleState } from '#model/schedule/fact.ts'
import { type PastSlot, pastSlots } from '#model/schedule/history.ts'
import type { ScheduleSpec } from '#model/schedule/spec.ts'

export interface ScheduleView {
  readonly name: string
  readonly target: { readonly kind: string; readonly name: string }
  readonly spec: ScheduleSpec
  readonly status: 'live' | 'paused' | 'ended'
  readonly nextAt: Instant | null
  /** The coming slots, the next one first. */
  readonly next: readonly Instant[]
  /** The next clock change in the schedule's time zone, backwards if `byMs` < 0; null if there is none, or it is no cron schedule. */
  readonly clockChange: { readonly at: Instant; readonly byMs: number } | null
  /** Number of runs started by its own slots so far. */
  readonly fired: number
  readonly running: number
  readonly waiting: number
  readonly last: LastRun | null
  readonly pausedBy: string | null
  readonly pausedFor: string | null
}

export class Schedules {
  private readonly context: EngineContext
  private readonly book: CoordinatorRegistry

  constructor(context: EngineContext, book: CoordinatorRegistry) {
    this.context = context
    this.book = book
  }

  list(): Promise<readonly ScheduleView[]> {
    return Promise.all([...this.context.system().schedules.keys()].map((name) => this.show(name)))
  }

  async show(name: string): Promise<ScheduleView> {
    const definition = this.context.system().schedules.get(name)
    if (definition === undefined) throw new TrihandError('NOT_FOUND', `there is no schedule ${name}`)
    const { state, nextAt, next } = await this.book.lookAtSchedule(this.context, name)
    const { target, spec } = definition
    return { name, target, spec, ...standing(state), nextAt, next, clockChange: this.clockChange(spec) }
  }

  /** Returns the outcomes of its last slots, oldest first. */
  async slots(name: string, most: number): Promise<readonly PastSlot[]> {
    return pastSlots(await this.book.lastOfSchedule(this.context, name, most * FACTS_PER_SLOT), most)
  }

  private clockChange({ timing, tz }: ScheduleSpec): ScheduleView['clockChange'] {
    if (timing.kind !== 'cron') return null
    const now = this.context.clock.now()
    return nextChange(openZone(tz, 'tz'), now, now + YEAR_MS)
  }

  /** Pauses the schedule. Until it is resumed it starts only runs that a person requests; the rest of an earlier backfill waits. */
  async pause(name: string, { by = 'local', note }: By & { readonly note?: string } = {}): Promise<void> {
    const said = note === undefined ? {} : { note }
    await this.book.askSchedule(this.context, name, { type: 'pause_schedule', by, ...said })
  }

  async resume(name: string, { by = 'local' }: By = {}): Promise<void> {
    await this.book.askSchedule(this.context, name, { type: 'resume_schedule', by })
  }

  /** Starts a run now, independent of the slots. The same id again is the same request. */
  async runNow(name: string, { id = this.context.ids.uuid(), ...asked }: By & Asked & Request = {}): Promise<void> {
    const { by = 'local' } = asked
    await this.book.askSchedule(this.context, name, { type: 'run_now', id, by, ...requestersOf(asked) })
  }

  /** Starts a run for each past slot of the span, oldest first, as the overlap policy allows. */
  async backfill(
    name: string,
    span: { readonly from: Instant; readonly to: Instant } & By & Asked & Request,
  ): Promise<void> {
    const { from, to, by = 'local', id = this.context.ids.uuid() } = span
    await this.book.askSchedule(this.context, name, { type: 'backfill', id, by, from, to, ...requestersOf(span) })
  }

  /** Returns the slots that the backfill would run, in order; nothing is started. */
  async rehearseBackfill(
    name: string,
    { from, to }: { readonly from: Instant; readonly to: Instant },
  ): Promise<readonly Instant[]> {
    const ask = { type: 'backfill', id: this.context.ids.uuid(), by: 'nobody', from, to } as const
    const facts = await this.book.tryOnSchedule(this.context, name, ask)
    return facts.flatMap((fact) => (fact.type === 'schedule.buffered' ? fact.runs.map(({ slot }) => slot) : []))
  }
}

interface By {
  readonly by?: string
}

interface Asked {
  /** The requester of the runs, who may not decide their tasks with `separation: requester`. Default: `by`; null: no requester. */
  readonly requester?: string | null
}

const requestersOf = ({ by, requester = by ?? null }: By & Asked): Requesters =>
  requester === null ? {} : { requesters: [requester] }

interface Request {
  readonly id?: string
}

const YEAR_MS = 366 * DAY_MS
/** Upper estimate of the facts per slot: started, ended, buffered, and other facts between them. */
const FACTS_PER_SLOT = 8

type Standing = Pick<ScheduleView, 'status' | 'fired' | 'running' | 'waiting' | 'last' | 'pausedBy' | 'pausedFor'>

const NOTHING: Standing = {
  status: 'ended',
  fired: 0,
  running: 0,
  waiting: 0,
  last: null,
  pausedBy: null,
  pausedFor: null,
}

const standing = (state: ScheduleState): Standing => {
  if (state.kind !== 'live') return NOTHING
  const { fired, running, line, last, paused, failures } = state
  const isTired =
    paused !== null && paused.note === undefined && failures > 0 && failures === state.spec.pauseOnFailures
  return {
    status: paused === null ? 'live' : 'paused',
    fired,
    running: running.length,
    waiting: line.length,
    last,
    pausedBy: paused?.by ?? null,
    pausedFor: isTired ? `${failures} runs failed in a row` : (paused?.note ?? null),
  }
}
