/**
 * Schedules as people see them: what there is, when it comes next, and what may be asked of it.
 *
 * Owns nothing durable; each verb is one command to the schedule's clerk.
 */
import { TrihandError } from '../model/errors.ts'
import type { Instant } from '../model/ids.ts'
import type { LastRun, ScheduleState } from '../model/schedule-fact.ts'
import type { Timing } from '../model/schedule-spec.ts'
import type { ClerkBook } from './clerk-book.ts'
import type { House } from './house.ts'

export interface ScheduleView {
  readonly name: string
  readonly target: { readonly kind: string; readonly name: string }
  readonly timing: Timing
  readonly tz: string
  readonly status: 'live' | 'paused' | 'ended'
  readonly nextAt: Instant | null
  /** Runs of its own slots so far. */
  readonly fired: number
  readonly running: number
  readonly waiting: number
  readonly last: LastRun | null
  readonly pausedBy: string | null
}

export class Schedules {
  private readonly house: House
  private readonly book: ClerkBook

  constructor(house: House, book: ClerkBook) {
    this.house = house
    this.book = book
  }

  list(): Promise<readonly ScheduleView[]> {
    return Promise.all([...this.house.system().schedules.keys()].map((name) => this.show(name)))
  }

  async show(name: string): Promise<ScheduleView> {
    const definition = this.house.system().schedules.get(name)
    if (definition === undefined) throw new TrihandError('NOT_FOUND', `there is no schedule ${name}`)
    const { state, nextAt } = await this.book.lookAtSchedule(this.house, name)
    const { target, spec } = definition
    return { name, target, timing: spec.timing, tz: spec.tz, ...standing(state), nextAt }
  }

  /** Starts nothing until it is resumed, but what a person asks for. */
  async pause(name: string, { by = 'local' }: By = {}): Promise<void> {
    await this.book.askSchedule(this.house, name, { type: 'pause_schedule', by })
  }

  async resume(name: string, { by = 'local' }: By = {}): Promise<void> {
    await this.book.askSchedule(this.house, name, { type: 'resume_schedule', by })
  }

  /** A run now, whatever the slots say. The same id again is the same request. */
  async runNow(name: string, { by = 'local', id = this.house.ids.uuid() }: By & Request = {}): Promise<void> {
    await this.book.askSchedule(this.house, name, { type: 'run_now', id, by })
  }

  /** A run for each past slot of the span, oldest first, one after another as its overlap allows. */
  async backfill(name: string, span: { readonly from: Instant; readonly to: Instant } & By & Request): Promise<void> {
    const { from, to, by = 'local', id = this.house.ids.uuid() } = span
    await this.book.askSchedule(this.house, name, { type: 'backfill', id, by, from, to })
  }
}

interface By {
  readonly by?: string
}

interface Request {
  readonly id?: string
}

type Standing = Pick<ScheduleView, 'status' | 'fired' | 'running' | 'waiting' | 'last' | 'pausedBy'>

const NOTHING: Standing = { status: 'ended', fired: 0, running: 0, waiting: 0, last: null, pausedBy: null }

const standing = (state: ScheduleState): Standing => {
  if (state.kind !== 'live') return NOTHING
  const { fired, running, line, last, paused } = state
  const status = paused === null ? 'live' : 'paused'
  return { status, fired, running: running.length, waiting: line.length, last, pausedBy: paused?.by ?? null }
}
