/** `j` and `k` move the focus between the rows of a list. `Enter` opens the focused row. */
import { letter } from './typing.ts'
import { useKeys } from './use-keys.ts'

const rows = (): readonly HTMLElement[] => [...document.querySelectorAll<HTMLElement>('[data-row]')]

const move = (by: number): void => {
  const all = rows()
  const at = all.indexOf(document.activeElement as HTMLElement)
  const next = all[Math.max(0, Math.min(all.length - 1, at + by))]
  next?.focus()
  next?.scrollIntoView({ block: 'nearest' })
}

const KEYS = { j: letter(() => move(1)), k: letter(() => move(-1)) }

export const useRowKeys = (): void => useKeys(KEYS)
