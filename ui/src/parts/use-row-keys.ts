/** `j` and `k` move over the rows of a list, `Enter` opens one. The focus is the selection. */

import { useEffect } from 'react'
import { tinykeys } from 'tinykeys'
import { letter } from './typing.ts'

const rows = (): readonly HTMLElement[] => [...document.querySelectorAll<HTMLElement>('[data-row]')]

const move = (by: number): void => {
  const all = rows()
  const at = all.indexOf(document.activeElement as HTMLElement)
  const next = all[Math.max(0, Math.min(all.length - 1, at + by))]
  next?.focus()
  next?.scrollIntoView({ block: 'nearest' })
}

export const useRowKeys = (): void => {
  useEffect(
    () =>
      tinykeys(window, {
        j: letter(() => move(1)),
        k: letter(() => move(-1)),
      }),
    [],
  )
}
