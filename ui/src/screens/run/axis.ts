/**
 * The axis of the timeline: maps times to positions from 0 to 1, with idle time collapsed. Also computes the visible part.
 *
 * Pure. All collapsed stretches have the same width. The rest of the axis has one scale.
 */
import type { Segment } from './bars.ts'

export interface Stretch {
  readonly from: number
  readonly to: number
  /** No step ran for a long time. */
  readonly isIdle: boolean
  /** Drawn collapsed, with its length as text. */
  readonly isFolded: boolean
  /** Position on the axis, 0 to 1. */
  readonly start: number
  readonly end: number
}

const SHORTEST_IDLE_MS = 60_000
/** Minimum length of idle time, as a share of the busy time. */
const IDLE_SHARE = 0.25
/** Wide enough for the text of its length. */
const FOLD_PX = 38
const NARROW_FOLD = 0.06
const WIDE_FOLD = 0.3
const MOST_FOLDED = 0.5

type Gap = Pick<Stretch, 'from' | 'to' | 'isIdle'>

const lengthOf = ({ from, to }: { readonly from: number; readonly to: number }): number => to - from

/** Splits the time at every start and end of a piece, and tells which parts are idle. */
const gapsOf = (pieces: readonly Segment[], now: number): readonly Gap[] => {
  const ends = pieces.map(({ from, to }) => [from, to ?? now] as const)
  const points = [...new Set(ends.flat())].sort((a, b) => a - b)
  const atWork = pieces.filter(({ state }) => state === 'work').map(({ from, to }) => [from, to ?? now] as const)
  atWork.sort(([a], [b]) => a - b)
  let [next, until] = [0, Number.NEGATIVE_INFINITY]
  return points.slice(1).map((to, i) => {
    const from = points[i] ?? to
    for (; (atWork[next]?.[0] ?? to) < to; next++) until = Math.max(until, atWork[next]?.[1] ?? until)
    return { from, to, isIdle: until <= from && to - from > SHORTEST_IDLE_MS }
  })
}

/** Joins neighbouring busy gaps into one. Each idle gap stays separate. */
const joined = (gaps: readonly Gap[]): readonly Gap[] => {
  const all: Gap[] = []
  for (const gap of gaps) {
    const last = all.at(-1)
    if (last !== undefined && !last.isIdle && !gap.isIdle) all.splice(-1, 1, { ...last, to: gap.to })
    else all.push(gap)
  }
  return all
}

export interface AxisOptions {
  /** Open pieces end here. */
  readonly now: number
  /** Whether the idle stretch that starts at this time is expanded. */
  readonly isUnfolded: (from: number) => boolean
  /** Width in pixels. Zero: not measured yet. */
  readonly width: number
}

/** The width of a collapsed stretch: enough for its text. All of them together take at most half of the axis. */
const foldWidth = (folds: number, width: number): number => {
  const wanted = width === 0 ? NARROW_FOLD : Math.max(NARROW_FOLD, Math.min(WIDE_FOLD, FOLD_PX / width))
  return Math.min(wanted, MOST_FOLDED / Math.max(1, folds))
}

export const axisOf = (pieces: readonly Segment[], { now, isUnfolded, width }: AxisOptions): readonly Stretch[] => {
  const found = gapsOf(pieces, now)
  const busyMs = found.filter(({ isIdle }) => !isIdle).reduce((sum, gap) => sum + lengthOf(gap), 0)
  const gaps = joined(found.map((gap) => ({ ...gap, isIdle: gap.isIdle && lengthOf(gap) > busyMs * IDLE_SHARE })))
  const isFolded = ({ isIdle, from }: Gap): boolean => isIdle && !isUnfolded(from)
  const folds = gaps.filter(isFolded).length
  const open = gaps.filter((gap) => !isFolded(gap)).reduce((sum, gap) => sum + lengthOf(gap), 0)
  const fold = open === 0 ? 1 / Math.max(1, folds) : foldWidth(folds, width)
  const perMs = open === 0 ? 0 : (1 - folds * fold) / open
  let start = 0
  return gaps.map((gap) => {
    const folded = isFolded(gap)
    const end = Math.min(1, start + (folded ? fold : lengthOf(gap) * perMs))
    const stretch = { ...gap, isFolded: folded, start, end }
    start = end
    return stretch
  })
}

export const placeOn = (axis: readonly Stretch[], at: number): number => {
  const found = axis.find(({ to }) => at <= to) ?? axis.at(-1)
  if (found === undefined) return 0
  const share = Math.max(0, Math.min(1, (at - found.from) / Math.max(1, lengthOf(found))))
  return found.start + (found.end - found.start) * share
}

/** The visible part of the axis. */
export interface View {
  readonly from: number
  readonly to: number
}

export const WHOLE: View = { from: 0, to: 1 }
const NARROWEST = 0.0005

/** The view between two positions, in any order. If it is too narrow: the whole axis. */
export const viewBetween = (a: number, b: number): View => {
  const [from, to] = [Math.max(0, Math.min(a, b)), Math.min(1, Math.max(a, b))]
  return to - from < NARROWEST ? WHOLE : { from, to }
}

/** The view from this position on. Ends at the end of the axis if the old view ends before it. */
export const viewFrom = (view: View, place: number): View => viewBetween(place, view.to > place ? view.to : 1)
export const viewUntil = (view: View, place: number): View => viewBetween(view.from < place ? view.from : 0, place)

/** Position within the view: 0 to 1, or outside of that range if not visible. */
export const seenAt = ({ from, to }: View, place: number): number => (place - from) / (to - from)
/** The position on the axis for a point of the view. */
export const placeSeen = ({ from, to }: View, share: number): number =>
  from + Math.max(0, Math.min(1, share)) * (to - from)
