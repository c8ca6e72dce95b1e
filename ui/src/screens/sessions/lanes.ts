/**
 * Checkpoints of a session and of its forks as the rows of a git graph: newest on top, each session on a lane of its own.
 *
 * Pure. A fork's lane begins at the row of the checkpoint it was taken from.
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

/** From one row down to another, on a lane; where the lanes differ it leaves one for the other. */
export interface LaneLine {
  readonly from: { readonly row: number; readonly lane: number }
  readonly to: { readonly row: number; readonly lane: number }
}

export interface Lanes {
  readonly rows: readonly LaneRow[]
  readonly lines: readonly LaneLine[]
  readonly count: number
}

/** Newest first; of one moment, the later fact first, and forks above what they came from. */
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

/** Since when it was in which mode, oldest first. */
export const modesOf = (marks: readonly Checkpoint[]): readonly { readonly mode: string; readonly at: string }[] => {
  const modes: { readonly mode: string; readonly at: string }[] = []
  for (const { mode, at } of marks) if (mode !== null && modes.at(-1)?.mode !== mode) modes.push({ mode, at })
  return modes
}
