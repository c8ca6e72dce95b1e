/** The selected tasks of the list. `x` selects or deselects the focused row, or else the open task. */
import { useCallback, useState } from 'react'
import { letter } from '../../parts/typing.ts'
import { useKeys } from '../../parts/use-keys.ts'

export interface Selection {
  readonly ids: ReadonlySet<string>
  keep(ids: readonly string[]): void
}

const NONE: ReadonlySet<string> = new Set()

const toggled = (ids: ReadonlySet<string>, id: string): ReadonlySet<string> => {
  const next = new Set(ids)
  if (!next.delete(id)) next.add(id)
  return next
}

export const useSelection = (opened: string | undefined): Selection => {
  const [ids, setIds] = useState(NONE)
  const toggle = (): void => {
    const row = document.activeElement?.closest<HTMLElement>('[data-row]')
    const id = row?.dataset['id'] ?? opened
    if (id !== undefined) setIds((now) => toggled(now, id))
  }
  useKeys({ x: letter(toggle) })
  return { ids, keep: useCallback((kept) => setIds(new Set(kept)), []) }
}
