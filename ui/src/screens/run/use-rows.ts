/**
 * The rows that are to be seen: which are unfolded, and the marks of the runs that they called.
 *
 * Owns what is folded. A called run is asked for when its row is unfolded, and not before.
 */
import { useQueries } from '@tanstack/react-query'
import { useMemo, useState } from 'react'
import type { RunMarks } from '../../api/documents.ts'
import { timelineQuery } from '../../api/queries.ts'
import { calledBy, type Known, type Row, rowsOf } from './rows.ts'

/** So many called runs are asked for by one key. The others unfold one by one, or with the next press. */
const MOST_AT_ONCE = 50

export interface Rows {
  readonly rows: readonly Row[]
  unfold(row: Row): void
  fold(row: Row): void
  /** One level deeper. */
  unfoldAll(): void
  foldAll(): void
}

/** One function for all drawings: then the same answers are the same map. */
const byRun = (answers: readonly { readonly data: RunMarks | undefined }[]): Known =>
  new Map(answers.flatMap(({ data }) => (data === undefined ? [] : [[data.id, data]])))

export const useRows = (root: string): Rows => {
  const [unfolded, setUnfolded] = useState<ReadonlySet<string>>(new Set([root]))
  const [called, setCalled] = useState<ReadonlySet<string>>(new Set())
  const ids = useMemo(() => [root, ...called], [root, called])
  const known = useQueries({ queries: ids.map(timelineQuery), combine: byRun })
  const rows = useMemo(() => rowsOf(root, known, unfolded), [root, known, unfolded])
  const open = (some: readonly Row[]): void => {
    setCalled((now) => new Set([...now, ...some.flatMap((row) => calledBy(row) ?? [])]))
    setUnfolded((now) => new Set([...now, ...some.map(({ key }) => key)]))
  }
  const unfoldAll = (): void => {
    const closed = rows.filter(({ isUnfolded }) => isUnfolded === false)
    const first = new Set(closed.filter((row) => calledBy(row) !== null).slice(0, MOST_AT_ONCE))
    open(closed.filter((row) => calledBy(row) === null || first.has(row)))
  }
  const fold = ({ key }: Row): void => setUnfolded((now) => new Set([...now].filter((one) => one !== key)))
  return { rows, unfold: (row) => open([row]), fold, unfoldAll, foldAll: () => setUnfolded(new Set([root])) }
}
