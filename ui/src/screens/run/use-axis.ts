/** The axis of the rows that are seen. Owns which idle stretches are drawn as long as they are: one, or all, until they are folded again. */
import { useMemo, useState } from 'react'
import { axisOf, type Stretch } from './axis.ts'
import type { Row } from './rows.ts'

type Unfolded = ReadonlySet<number> | 'all'

const toggled = (now: Unfolded, from: number, idle: readonly number[]): Unfolded => {
  const open = new Set(now === 'all' ? idle : now)
  if (!open.delete(from)) open.add(from)
  return open
}

export interface Axis {
  readonly axis: readonly Stretch[]
  /** Null: there is no idle time. */
  readonly isIdleFolded: boolean | null
  /** The stretch that begins then. */
  toggle(from: number): void
  toggleIdle(): void
}

export const useAxis = (rows: readonly Row[], now: number, width: number): Axis => {
  const [unfolded, setUnfolded] = useState<Unfolded>(new Set<number>())
  const axis = useMemo(() => {
    const pieces = rows.flatMap(({ bar }) => bar.pieces)
    return axisOf(pieces, { now, width, isUnfolded: (from) => unfolded === 'all' || unfolded.has(from) })
  }, [rows, now, width, unfolded])
  const idle = axis.filter(({ isIdle }) => isIdle).map(({ from }) => from)
  const isAnyFolded = axis.some(({ isFolded }) => isFolded)
  return {
    axis,
    isIdleFolded: idle.length === 0 ? null : isAnyFolded,
    toggle: (from) => setUnfolded((open) => toggled(open, from, idle)),
    toggleIdle: () => setUnfolded(isAnyFolded ? 'all' : new Set<number>()),
  }
}
