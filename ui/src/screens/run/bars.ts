/**
 * The timeline of a run from its facts: one bar per step, in the order they began, with idle time folded.
 *
 * Pure: facts in, bars and a scale out. Never draws.
 */
import type { Fact } from '../../api/documents.ts'

export type BarKind = 'work' | 'sleep' | 'event' | 'child' | 'human' | 'retry' | 'doubt'

/** Who does it, as far as its name or its kind tells. */
export type Hand = 'agent' | 'human' | 'workflow'

export interface Bar {
  readonly step: string
  readonly hand: Hand
  readonly kind: BarKind
  readonly from: number
  /** Null: it is not over. */
  readonly to: number | null
  readonly outcome: 'open' | 'done' | 'failed'
  readonly attempts: number
}

const OPENS: Readonly<Record<string, BarKind>> = {
  'timer.set': 'sleep',
  'wait.opened': 'event',
  'child.started': 'child',
  'step.intended': 'work',
  'step.retry_scheduled': 'retry',
  'step.uncertain': 'doubt',
}
const DONE: ReadonlySet<string> = new Set([
  'step.completed',
  'step.reused',
  'timer.fired',
  'wait.received',
  'wait.timed_out',
  'child.ended',
])

const attemptOf = ({ body }: Fact): number => (typeof body['attempt'] === 'number' ? body['attempt'] : 1)

/** A question to people is a child that is a task. */
const opensAs = ({ type, body }: Fact): BarKind | undefined =>
  type === 'child.started' && String(body['child']).startsWith('tsk_') ? 'human' : OPENS[type]

const handOf = (step: string, kind: BarKind): Hand => {
  if (kind === 'human') return 'human'
  return step.startsWith('agent/model') ? 'agent' : 'workflow'
}

/** A step that leaves one fact only began when the fact before it was written. */
export const barsOf = (facts: readonly Fact[]): readonly Bar[] => {
  const bars = new Map<string, Bar>()
  let before = facts[0] === undefined ? 0 : Date.parse(facts[0].at)
  for (const fact of facts) {
    const at = Date.parse(fact.at)
    if (fact.step !== null) {
      const known = bars.get(fact.step)
      const opens = opensAs(fact)
      const from = known?.from ?? (opens === undefined ? before : at)
      const attempts = Math.max(known?.attempts ?? 1, attemptOf(fact))
      const kind = opens ?? known?.kind ?? 'work'
      const isOver = DONE.has(fact.type) || fact.type === 'step.failed'
      const outcome = fact.type === 'step.failed' ? 'failed' : isOver ? 'done' : 'open'
      // A retry that succeeded was work.
      const shown = isOver && kind === 'retry' ? 'work' : kind
      const hand = handOf(fact.step, shown)
      bars.set(fact.step, { step: fact.step, hand, kind: shown, from, to: isOver ? at : null, outcome, attempts })
    }
    before = at
  }
  return [...bars.values()]
}

export interface Stretch {
  readonly from: number
  readonly to: number
  /** Nothing happened: drawn short, with its length written on it. */
  readonly isIdle: boolean
  /** Where it lies on the axis, 0 to 1. */
  readonly start: number
  readonly end: number
}

const IDLE_SHARE = 0.2
const IDLE_WIDTH = 0.06

/** The axis: gaps between facts that are longer than a fifth of all become short. */
export const axisOf = (instants: readonly number[], now: number | null): readonly Stretch[] => {
  const points = [...new Set([...instants, ...(now === null ? [] : [now])])].sort((a, b) => a - b)
  const [first = 0] = points
  const last = points.at(-1) ?? first
  const all = Math.max(1, last - first)
  const gaps = points.slice(1).map((to, i) => ({ from: points[i] ?? first, to }))
  const isLong = ({ from, to }: { from: number; to: number }): boolean =>
    to - from > all * IDLE_SHARE && to - from > 60_000
  const idle = gaps.filter(isLong).length
  const busyMs = Math.max(
    1,
    gaps.filter((gap) => !isLong(gap)).reduce((sum, { from, to }) => sum + to - from, 0),
  )
  const busyWidth = 1 - idle * IDLE_WIDTH
  let start = 0
  return gaps.map((gap) => {
    const isIdle = isLong(gap)
    const width = isIdle ? IDLE_WIDTH : ((gap.to - gap.from) / busyMs) * busyWidth
    const stretch = { ...gap, isIdle, start, end: Math.min(1, start + width) }
    start += width
    return stretch
  })
}

export const placeOn = (axis: readonly Stretch[], at: number): number => {
  const found = axis.find(({ to }) => at <= to) ?? axis.at(-1)
  if (found === undefined) return 0
  const share = found.to === found.from ? 1 : Math.max(0, Math.min(1, (at - found.from) / (found.to - found.from)))
  return found.start + (found.end - found.start) * share
}
