/**
 * Which rows of a list are chosen: one by one, or from the last one to this.
 *
 * Owns the choice while the list is shown. Rows that the list no longer shows are not chosen any more.
 */
import { useMemo, useRef, useState } from 'react'

export interface Selection {
  readonly ids: ReadonlySet<string>
  /** `upTo`: everything between the row that was changed last and this one gets what this one gets. */
  toggle(id: string, upTo?: boolean): void
  all(isChosen: boolean): void
}

/** The rows between two, both included. */
export const between = (shown: readonly string[], from: string, to: string): readonly string[] => {
  const [a, b] = [shown.indexOf(from), shown.indexOf(to)]
  return a < 0 || b < 0 ? [to] : shown.slice(Math.min(a, b), Math.max(a, b) + 1)
}

export const useSelection = (shown: readonly string[]): Selection => {
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set())
  const last = useRef<string | null>(null)
  const ids = useMemo(() => new Set(shown.filter((id) => chosen.has(id))), [shown, chosen])
  return {
    ids,
    toggle: (id, upTo = false) => {
      const rows = upTo && last.current !== null ? between(shown, last.current, id) : [id]
      const next = new Set(ids)
      for (const row of rows)
        if (ids.has(id)) next.delete(row)
        else next.add(row)
      last.current = id
      setChosen(next)
    },
    all: (isChosen) => setChosen(new Set(isChosen ? shown : [])),
  }
}
