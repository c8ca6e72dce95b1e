/** The selected rows of a list: one by one, or a range. A row that leaves the list is no longer selected. */
import { useMemo, useRef, useState } from 'react'

export interface Selection {
  readonly ids: ReadonlySet<string>
  /** Toggles a row. With `upTo`: all rows from the last toggled one to this one. */
  toggle(id: string, upTo?: boolean): void
  all(isChosen: boolean): void
}

/** The rows from one to another, inclusive. */
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
