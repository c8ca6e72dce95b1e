/**
 * Computes a git graph from the checkpoints of a session and its forks: newest on top, one lane per session.
 *
 * Pure. The lane of a fork starts at the checkpoint that it was forked from.
 */
import type { Checkpoint } from '../../api/documents.ts'

export interface Branch {
  readonly session: string
  readonly marks: readonly Checkpoint[]
}

export interface LaneRow {
  readonly session: string
  readonly lane: number
  readonly mark: Checkpoint
}

/** A line from one row down to another. It changes lanes if the rows are on different ones. */
export interface LaneLine {
  readonly from: { readonly row: number; readonly lane: number }
  readonly to: { readonly row: number; readonly lane: number }
}

export interface Lanes {
  readonly rows: readonly LaneRow[]
  readonly lines: readonly LaneLine[]
  readonly count: number
}

/** Newest first. At the same time: forks above their origin, then the higher sequence number. */
const newestFirst = (a: LaneRow, b: LaneRow): number =>
  b.mark.at.localeCompare(a.mark.at) || b.lane - a.lane || b.mark.seq - a.mark.seq

const linesOf = (rows: readonly LaneRow[]): readonly LaneLine[] => {
  const lines: LaneLine[] = []
  for (const [row, { session, lane, mark }] of rows.entries()) {
    const before = rows.findIndex((other, i) => i > row && other.session === session)
    if (before !== -1) lines.push({ from: { row, lane }, to: { row: before, lane } })
    if (mark.kind !== 'created' || mark.id === null) continue
    const origin = rows.findIndex((other) => other.mark.kind === 'checkpoint' && other.mark.id === mark.id)
    const place = rows[origin]
    if (place !== undefined) lines.push({ from: { row, lane }, to: { row: origin, lane: place.lane } })
  }
  return lines
}

/** The first branch is the session itself. */
export const lanesOf = (branches: readonly Branch[]): Lanes => {
  const rows = branches
    .flatMap(({ session, marks }, lane) => marks.map((mark) => ({ session, lane, mark })))
    .sort(newestFirst)
  return { rows, lines: linesOf(rows), count: branches.length }
}

/** The changes of mode, oldest first. */
export const modesOf = (marks: readonly Checkpoint[]): readonly { readonly mode: string; readonly at: string }[] => {
  const modes: { readonly mode: string; readonly at: string }[] = []
  for (const { mode, at } of marks) if (mode !== null && modes.at(-1)?.mode !== mode) modes.push({ mode, at })
  return modes
}
