/**
 * The rows of the timeline: a run, its steps, their attempts, and the steps of child runs, as far as they are expanded.
 *
 * Pure. A child run that is still loading has one row that says so.
 */
import type { RunMarks } from '../../api/documents.ts'
import { attemptsOf, type Bar, type Bars, barsOf } from './bars.ts'

export interface Row {
  readonly key: string
  /** The run of the step. */
  readonly run: string
  readonly step: string | null
  readonly name: string
  readonly kind: 'run' | 'step' | 'attempt' | 'loading'
  readonly bar: Bar
  /** Level, position and number of siblings start at one, as ARIA requires. */
  readonly level: number
  readonly position: number
  readonly siblings: number
  readonly parent: string | null
  /** Null: the row has no children. */
  readonly isUnfolded: boolean | null
}

export type LoadedMarks = ReadonlyMap<string, RunMarks>

/** Cache: the same marks give the same bars. */
const kept = new WeakMap<RunMarks, Bars>()

const barsIn = (marks: RunMarks): Bars => {
  const bars = kept.get(marks) ?? barsOf(marks)
  kept.set(marks, bars)
  return bars
}

const isRun = (child: string | null): child is string => child?.startsWith('run_') === true

/** The child run whose steps are below this row. */
export const calledBy = ({ kind, bar }: Row): string | null => (kind === 'step' && isRun(bar.child) ? bar.child : null)

interface Place {
  readonly run: string
  readonly level: number
  readonly parent: string | null
}

class Tree {
  readonly rows: Row[] = []
  readonly #known: LoadedMarks
  readonly #unfolded: ReadonlySet<string>

  constructor(known: LoadedMarks, unfolded: ReadonlySet<string>) {
    this.#known = known
    this.#unfolded = unfolded
  }

  steps(steps: readonly Bar[], place: Place): void {
    for (const [i, bar] of steps.entries()) this.#step(bar, place, i + 1, steps.length)
  }

  #step(bar: Bar, place: Place, position: number, siblings: number): void {
    const key = `${place.run} ${bar.step}`
    const hasMore = bar.attempts > 1 || isRun(bar.child)
    const isUnfolded = hasMore ? this.#unfolded.has(key) : null
    const { step } = bar
    this.rows.push({ ...place, key, step, name: step ?? '', kind: 'step', bar, position, siblings, isUnfolded })
    if (isUnfolded === true) this.#inside(bar, { run: place.run, level: place.level + 1, parent: key })
  }

  #inside(bar: Bar, place: Place): void {
    const rest = { step: bar.step, isUnfolded: null }
    const attempts = attemptsOf(bar)
    for (const [i, attempt] of attempts.entries()) {
      const name = `attempt ${i + 1}`
      const key = `${place.parent} #${i + 1}`
      const of = { position: i + 1, siblings: attempts.length }
      this.rows.push({ ...place, ...rest, ...of, key, name, kind: 'attempt', bar: attempt })
    }
    if (!isRun(bar.child)) return
    const called = this.#known.get(bar.child)
    if (called !== undefined) return this.steps(barsIn(called).steps, { ...place, run: bar.child })
    const key = `${place.parent} …`
    this.rows.push({ ...place, ...rest, key, name: 'loading', kind: 'loading', bar, position: 1, siblings: 1 })
  }
}

export const rowsOf = (root: string, known: LoadedMarks, unfolded: ReadonlySet<string>): readonly Row[] => {
  const marks = known.get(root)
  if (marks === undefined) return []
  const { run, steps } = barsIn(marks)
  const tree = new Tree(known, unfolded)
  const isUnfolded = steps.length === 0 ? null : unfolded.has(root)
  tree.rows.push({
    ...{ key: root, run: root, step: null, name: marks.handler, kind: 'run', bar: run, isUnfolded },
    ...{ level: 1, position: 1, siblings: 1, parent: null },
  })
  if (isUnfolded === true) tree.steps(steps, { run: root, level: 2, parent: root })
  return tree.rows
}
