/**
 * Keyboard focus in the virtual list of the timeline.
 *
 * The focused row is always in the DOM, visible or not, so that scrolling never loses the focus.
 */
import { defaultRangeExtractor, type Range, useVirtualizer, type VirtualItem } from '@tanstack/react-virtual'
import { type RefObject, useLayoutEffect, useRef, useState } from 'react'
import { HEAD_HEIGHT } from './axis-head.tsx'
import { ROW_HEIGHT } from './line.tsx'
import type { Row } from './rows.ts'

const OVERSCAN = 6

export interface Cursor {
  readonly row: Row | undefined
  /** Rows that are in the DOM. */
  readonly shown: readonly VirtualItem[]
  /** Height of all rows. */
  readonly height: number
  move(by: number): void
  to(key: string): void
}

export const useCursor = (rows: readonly Row[], box: RefObject<HTMLElement | null>): Cursor => {
  const [key, setKey] = useState('')
  const wantsFocus = useRef(false)
  const index = Math.max(
    0,
    rows.findIndex((row) => row.key === key),
  )
  const list = useVirtualizer({
    count: rows.length,
    getScrollElement: () => box.current,
    estimateSize: () => ROW_HEIGHT,
    overscan: OVERSCAN,
    scrollMargin: HEAD_HEIGHT,
    scrollPaddingStart: HEAD_HEIGHT,
    rangeExtractor: (range: Range) => {
      const seen = defaultRangeExtractor(range)
      return index < rows.length && !seen.includes(index) ? [...seen, index].sort((a, b) => a - b) : seen
    },
  })
  useLayoutEffect(() => {
    if (!wantsFocus.current) return
    wantsFocus.current = false
    list.scrollToIndex(index, { align: 'auto' })
    box.current
      ?.querySelector<HTMLElement>(`[data-key="${CSS.escape(rows[index]?.key ?? '')}"]`)
      ?.focus({ preventScroll: true })
  })
  const to = (next: string): void => {
    wantsFocus.current = true
    setKey(next)
  }
  const move = (by: number): void => {
    const isInside = box.current?.querySelector('[data-key]:focus') != null
    wantsFocus.current = true
    setKey((now) => {
      const at = Math.max(
        0,
        rows.findIndex((row) => row.key === now),
      )
      // The first key press focuses the list; the next ones move the focus.
      const next = isInside ? Math.max(0, Math.min(rows.length - 1, at + by)) : at
      return rows[next]?.key ?? now
    })
  }
  return { row: rows[index], shown: list.getVirtualItems(), height: list.getTotalSize(), move, to }
}
