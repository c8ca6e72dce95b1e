/**
 * The timeline of a run: a tree on the left, bars on the right, or the same as a table.
 *
 * Owns which part of the axis is seen, and what letters and clicks do. Never decides what a bar is (bars.ts).
 */
import { useElementSize } from '@mantine/hooks'
import { type KeyboardEvent, type MouseEvent, useMemo, useRef, useState } from 'react'
import { letter } from '../../parts/typing.ts'
import { useKeys } from '../../parts/use-keys.ts'
import { placeOn, type View, viewFrom, viewUntil, WHOLE } from './axis.ts'
import { AxisHead, HEAD_HEIGHT } from './axis-head.tsx'
import { beganAt, endedAt } from './bars.ts'
import { Line } from './line.tsx'
import type { Row } from './rows.ts'
import { Tiles } from './states.tsx'
import { TimelineTable } from './timeline-table.tsx'
import { Tools } from './tools.tsx'
import { moveOf } from './tree-keys.ts'
import { useAxis } from './use-axis.ts'
import { type Cursor, useCursor } from './use-cursor.ts'
import { useNow } from './use-now.ts'
import { type Rows, useRows } from './use-rows.ts'

export interface Chosen {
  readonly run: string
  readonly step: string | null
}

export interface TimelineProps {
  readonly run: string
  readonly isOver: boolean
  readonly chosen: Chosen
  readonly choose: (chosen: Chosen) => void
  readonly isTable: boolean
  readonly showTable: (isTable: boolean) => void
}

/** What the rows in the box do when they are clicked, or have the keys. */
const rowEvents = (rows: Rows, cursor: Cursor, choose: (row: Row) => void) => ({
  onClick: ({ target }: MouseEvent): void => {
    if (!(target instanceof Element)) return
    const key = target.closest<HTMLElement>('[data-key]')?.dataset['key']
    const row = rows.rows.find((one) => one.key === key)
    if (row === undefined) return
    cursor.to(row.key)
    if (target.closest('[data-fold]') === null) choose(row)
    else if (row.isUnfolded) rows.fold(row)
    else rows.unfold(row)
  },
  onKeyDown: (event: KeyboardEvent): void => {
    const isRow = event.target instanceof Element && event.target.matches('[data-key]')
    if (!isRow || cursor.row === undefined || event.ctrlKey || event.metaKey || event.altKey) return
    const move = moveOf(event.key, cursor.row, { cursor, rows, choose })
    if (move === null) return
    event.preventDefault()
    move()
  },
})

export const Timeline = ({ run, isOver, chosen, choose, isTable, showTable }: TimelineProps) => {
  const now = useNow(!isOver)
  const tree = useRows(run)
  const { rows, unfoldAll, foldAll } = tree
  const [view, see] = useState<View>(WHOLE)
  const box = useRef<HTMLDivElement>(null)
  const cursor = useCursor(rows, box)
  const { ref: track, width } = useElementSize<HTMLDivElement>()
  const { axis, isIdleFolded, toggle, toggleIdle } = useAxis(rows, now, width)
  const scale = useMemo(() => ({ axis, view, width, now }), [axis, view, width, now])
  const states = useMemo(() => new Set(rows.flatMap(({ bar }) => bar.pieces.map(({ state }) => state))), [rows])
  const onRow = (act: (row: Row) => void) => letter(() => cursor.row !== undefined && act(cursor.row))
  useKeys({
    j: letter(() => cursor.move(1)),
    k: letter(() => cursor.move(-1)),
    e: letter(unfoldAll),
    w: letter(foldAll),
    '0': letter(() => see(WHOLE)),
    '[': onRow(({ bar }) => see((seen) => viewFrom(seen, placeOn(axis, beganAt(bar))))),
    ']': onRow(({ bar }) => see((seen) => viewUntil(seen, placeOn(axis, endedAt(bar, now))))),
  })
  const isChosen = (row: Row): boolean => row.kind !== 'attempt' && row.run === chosen.run && row.step === chosen.step
  const fit = view === WHOLE ? null : () => see(WHOLE)
  return (
    <section className="timeline" aria-label="Timeline">
      <Tiles />
      <Tools {...{ isTable, showTable, unfoldAll, foldAll, isIdleFolded, toggleIdle, fit, states }} />
      <div
        ref={box}
        className="timeline-box"
        {...rowEvents(tree, cursor, ({ run: of, step }) => choose({ run: of, step }))}
      >
        {isTable ? (
          <TimelineTable {...{ rows, cursor, isChosen, now }} />
        ) : (
          <>
            <AxisHead {...{ axis, view, width, see, toggle, track }} />
            <div role="tree" aria-label="Steps" className="lines" style={{ height: cursor.height }}>
              {cursor.shown.map(({ index, start }) => {
                const row = rows[index]
                if (row === undefined) return null
                const isCurrent = row.key === cursor.row?.key
                return (
                  <Line
                    key={row.key}
                    {...{ row, scale, isCurrent }}
                    top={start - HEAD_HEIGHT}
                    isChosen={isChosen(row)}
                  />
                )
              })}
            </div>
          </>
        )}
      </div>
    </section>
  )
}
