/** The clock ticks of the axis: far enough apart, and as exact as their distance requires. Pure. */
import { placeOn, type Stretch, seenAt, type View } from './axis.ts'

export interface Tick {
  readonly at: number
  /** Position in the view, 0 to 1. */
  readonly share: number
  readonly text: string
}

const [SECOND, MINUTE, HOUR, DAY] = [1_000, 60_000, 3_600_000, 86_400_000]
const STEPS: readonly number[] = [
  ...[1, 2, 5, 10, 20, 50, 100, 200, 500],
  ...[1, 2, 5, 10, 15, 30].map((count) => count * SECOND),
  ...[1, 2, 5, 10, 15, 30].map((count) => count * MINUTE),
  ...[1, 2, 3, 6, 12].map((count) => count * HOUR),
  ...[1, 2, 7, 14, 30, 90, 365].map((count) => count * DAY),
]
const APART_PX = 90

const spelt = (at: number, step: number): string => {
  const text = new Date(at).toISOString()
  if (step >= DAY) return text.slice(0, 10)
  return text.slice(11, step >= MINUTE ? 16 : step >= SECOND ? 19 : 23)
}

/** Only visible ticks: a zoomed view of a long run would have thousands. */
const ticksIn = (stretch: Stretch, view: View, width: number): readonly Tick[] => {
  const { from, to, start, end } = stretch
  const pixels = ((end - start) / (view.to - view.from)) * width
  const step = STEPS.find((one) => (one / Math.max(1, to - from)) * pixels >= APART_PX)
  if (step === undefined) return []
  const moment = (place: number): number => from + ((place - start) / (end - start)) * (to - from)
  const [first, last] = [Math.max(from, moment(view.from)), Math.min(to, moment(view.to))]
  const ticks: Tick[] = []
  for (let at = Math.ceil(first / step) * step; at <= last; at += step)
    ticks.push({ at, share: seenAt(view, placeOn([stretch], at)), text: spelt(at, step) })
  return ticks
}

/** Ticks in UTC. Leaves out those that would overlap or cross the edge. */
export const ticksOf = (axis: readonly Stretch[], view: View, width: number): readonly Tick[] => {
  const all = axis.filter(({ isFolded }) => !isFolded).flatMap((stretch) => ticksIn(stretch, view, width))
  const apart: Tick[] = []
  for (const tick of all) {
    const isFree = (tick.share - (apart.at(-1)?.share ?? -1)) * width >= APART_PX
    if (isFree && (1 - tick.share) * width >= APART_PX) apart.push(tick)
  }
  return apart
}
