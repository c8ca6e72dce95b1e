/** What the arrows, Home, End and Enter do on a row of the timeline: as in every tree. Letters are heard on the whole page (timeline.tsx). */
import type { Row } from './rows.ts'
import type { Cursor } from './use-cursor.ts'
import type { Rows } from './use-rows.ts'

interface Tree {
  readonly cursor: Pick<Cursor, 'move' | 'to'>
  readonly rows: Pick<Rows, 'rows' | 'fold' | 'unfold'>
  readonly choose: (row: Row) => void
}

/** Into it if it is closed, to its first row if it is open. */
const right = (row: Row, { cursor, rows }: Tree): void => {
  if (row.isUnfolded === false) rows.unfold(row)
  else if (row.isUnfolded) cursor.move(1)
}

const left = (row: Row, { cursor, rows }: Tree): void => {
  if (row.isUnfolded) rows.fold(row)
  else if (row.parent !== null) cursor.to(row.parent)
}

/** Null: the key is none of the tree's. */
export const moveOf = (key: string, row: Row, tree: Tree): (() => void) | null => {
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
