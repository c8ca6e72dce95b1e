/**
 * The timeline of a run: a tree on the left and bars on the right, or a table.
 *
 * Holds the visible part of the axis, and handles keys and clicks. bars.ts computes the bars.
 */
import { Button, Group } from '@mantine/core'
import { useElementSize } from '@mantine/hooks'
import { useQueries } from '@tanstack/react-query'
import { type KeyboardEvent, type MouseEvent, useEffect, useMemo, useRef, useState } from 'react'
import type { RunMarks } from '../../api/documents.ts'
import { timelineQuery } from '../../api/queries.ts'
import { letter } from '../../parts/typing.ts'
import { useKeys } from '../../parts/use-keys.ts'
import { axisOf, placeOn, type Stretch, type View, viewFrom, viewUntil, WHOLE } from './axis.ts'
import { AxisHead, HEAD_HEIGHT } from './axis-head.tsx'
import { beganAt, endedAt, type State } from './bars.ts'
import { Line } from './line.tsx'
import { calledBy, type LoadedMarks, type Row, rowsOf } from './rows.ts'
import { Legend, Tiles } from './states.tsx'
import { TimelineTable } from './timeline-table.tsx'
import { type Cursor, useCursor } from './use-cursor.ts'

/*
 * The visible rows. Holds which rows are expanded, and loads a child run when its row is expanded.
 */

/** Limit of child runs that “Expand all” loads at once. Press again for more. */
const MOST_AT_ONCE = 50

interface Rows {
  readonly rows: readonly Row[]
  unfold(row: Row): void
  fold(row: Row): void
  /** Expands one more level. */
  unfoldAll(): void
  foldAll(): void
}

/** A stable function, so that React Query returns the same map for the same data. */
const byRun = (answers: readonly { readonly data: RunMarks | undefined }[]): LoadedMarks =>
  new Map(answers.flatMap(({ data }) => (data === undefined ? [] : [[data.id, data]])))

const useRows = (root: string): Rows => {
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

// The toolbar of the timeline: bars or table, expand and collapse all, and the legend.

interface ToolsProps {
  readonly isTable: boolean
  readonly showTable: (isTable: boolean) => void
  readonly unfoldAll: () => void
  readonly foldAll: () => void
  /** Whether some idle time is collapsed. Null: there is none. */
  readonly isIdleFolded: boolean | null
  readonly toggleIdle: () => void
  /** Zooms out. Null: the whole axis is visible. */
  readonly fit: (() => void) | null
  readonly states: ReadonlySet<State>
}

const Tools = ({ isTable, showTable, unfoldAll, foldAll, isIdleFolded, toggleIdle, fit, states }: ToolsProps) => (
  <Group gap="xs" className="tools">
    <Button.Group>
      <Button size="compact-xs" variant="default" aria-pressed={!isTable} onClick={() => showTable(false)}>
        Bars
      </Button>
      <Button size="compact-xs" variant="default" aria-pressed={isTable} onClick={() => showTable(true)}>
        Table
      </Button>
    </Button.Group>
    <Button size="compact-xs" variant="subtle" aria-keyshortcuts="e" onClick={unfoldAll}>
      Expand all
    </Button>
    <Button size="compact-xs" variant="subtle" aria-keyshortcuts="w" onClick={foldAll}>
      Collapse all
    </Button>
    {isIdleFolded !== null && !isTable && (
      <Button size="compact-xs" variant="subtle" onClick={toggleIdle}>
        {isIdleFolded ? 'Show idle time' : 'Hide idle time'}
      </Button>
    )}
    {fit !== null && !isTable && (
      <Button size="compact-xs" variant="light" aria-keyshortcuts="0" onClick={fit}>
        Fit
      </Button>
    )}
    {!isTable && <Legend states={states} />}
  </Group>
)

/*
 * The axis of the visible rows. Holds which idle stretches are expanded: some, or all.
 */

type Unfolded = ReadonlySet<number> | 'all'

const toggled = (now: Unfolded, from: number, idle: readonly number[]): Unfolded => {
  const open = new Set(now === 'all' ? idle : now)
  if (!open.delete(from)) open.add(from)
  return open
}

interface Axis {
  readonly axis: readonly Stretch[]
  /** Null: there is no idle time. */
  readonly isIdleFolded: boolean | null
  /** Toggles the stretch that starts at this time. */
  toggle(from: number): void
  toggleIdle(): void
}

const useAxis = (rows: readonly Row[], now: number, width: number): Axis => {
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

/*
 * Arrows, Home, End and Enter on a row of the timeline work as in any tree view.
 */

interface Tree {
  readonly cursor: Pick<Cursor, 'move' | 'to'>
  readonly rows: Pick<Rows, 'rows' | 'fold' | 'unfold'>
  readonly choose: (row: Row) => void
}

/** Expands a collapsed row. Moves to the first child of an expanded one. */
const right = (row: Row, { cursor, rows }: Tree): void => {
  if (row.isUnfolded === false) rows.unfold(row)
  else if (row.isUnfolded) cursor.move(1)
}

const left = (row: Row, { cursor, rows }: Tree): void => {
  if (row.isUnfolded) rows.fold(row)
  else if (row.parent !== null) cursor.to(row.parent)
}

/** The action for a key. Null: the tree does not use this key. */
const moveOf = (key: string, row: Row, tree: Tree): (() => void) | null => {
  const all = tree.rows.rows
  switch (key) {
    case 'ArrowDown':
      return () => tree.cursor.move(1)
    case 'ArrowUp':
      return () => tree.cursor.move(-1)
    case 'ArrowRight':
      return () => right(row, tree)
    case 'ArrowLeft':
      return () => left(row, tree)
    case 'Home':
      return () => tree.cursor.to(all[0]?.key ?? '')
    case 'End':
      return () => tree.cursor.to(all.at(-1)?.key ?? '')
    case 'Enter':
    case ' ':
      return () => tree.choose(row)
    default:
      return null
  }
}

// The current time, updated every second while the run is in progress.

const EVERY_MS = 1_000

const useNow = (goesOn: boolean): number => {
  const [now, setNow] = useState(Date.now)
  useEffect(() => {
    if (!goesOn) return
    const timer = setInterval(() => setNow(Date.now()), EVERY_MS)
    return () => clearInterval(timer)
  }, [goesOn])
  return now
}

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

/** Click and key handlers of the rows. */
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
