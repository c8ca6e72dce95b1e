/**
 * What kinds of batches there are: which lists a statement takes, and in which order its parameters stand.
 *
 * Owns the choice of a shape. There are few of them, because each connection keeps the plan of each; the smallest one that holds
 * all lists of a batch is taken, because a part that finds nothing to do costs as well.
 */
import { toArrays, unnest } from '#adapters/storage/postgres/columns.ts'
import { type BatchRows, LISTS, type ListName } from './lists.ts'
import { SINGLE_LIST, SINGLE_VIEWS } from './single.ts'

/** Lists that are taken from the prelude. */
type Views = { readonly [Name in ListName]?: string }

export class Shape {
  readonly name: string
  /** A list of its own that stands before all others, as a part of the statement. */
  readonly prelude: string | null
  readonly #views: Views
  readonly #first = new Map<ListName, number>()
  readonly #last: number

  constructor(name: string, lists: readonly ListName[], prelude: string | null = null, views: Views = {}) {
    this.name = name
    this.prelude = prelude
    this.#views = views
    let next = 1
    for (const list of lists) {
      this.#first.set(list, next)
      next += Object.keys(LISTS[list]).length
    }
    this.#last = next
  }

  has(list: ListName): boolean {
    return this.#first.has(list) || this.#views[list] !== undefined
  }

  /** Whether streams may be signalled that the batch does not write. */
  get wakeups(): boolean {
    return this.has('signal') || this.has('carried')
  }

  /** The list as a table expression. */
  table(list: ListName): string {
    const view = this.#views[list]
    if (view !== undefined) return view
    const first = this.#first.get(list)
    if (first === undefined) throw new Error(`a statement of the shape ${this.name} has no list ${list}`)
    return unnest(list, LISTS[list], first)
  }

  /** The places of all appends, where there are events. Not a series: nobody could tell its length, and tables are sized by guess. */
  get places(): string {
    return `$${this.#last}::int[]`
  }

  holds(rows: BatchRows): boolean {
    return NAMES.every((list) => rows[list].length === 0 || this.has(list))
  }

  values(rows: BatchRows, size: number): string[] {
    const arrays = [...this.#first.keys()].flatMap((list) => toArrays(LISTS[list], rows[list]))
    return this.has('occurrence') ? [...arrays, `{${Array.from({ length: size }, (_, place) => place)}}`] : arrays
  }
}

/** Rows of a list whose append has not lost, within a statement. */
export const wins = (list: string): string => `${list}.append not in (select append from lost)`

const NAMES = Object.keys(LISTS) as readonly ListName[]

/**
 * What a run writes at almost every step; a new run; events that nobody waits for, with the runs they start; the end of a run; a run
 * that parks; any event that starts runs; a task that is asked, changed or over; all the rest.
 */
const WHOLE = new Shape('whole', NAMES)
export const SINGLE = new Shape('single', [], SINGLE_LIST, SINGLE_VIEWS)
export const SHAPES: readonly Shape[] = [
  new Shape('step', ['guard', 'fact']),
  new Shape('birth', ['creation', 'fact']),
  new Shape('arrival', ['fact', 'creation', 'occurrence']),
  new Shape('turn', ['guard', 'fact', 'creation', 'signal', 'closing', 'document']),
  new Shape('parking', ['guard', 'fact', 'opening', 'closing']),
  new Shape('intake', ['guard', 'fact', 'creation', 'occurrence', 'known_path', 'carried', 'suppression']),
  new Shape('task', ['guard', 'fact', 'creation', 'signal', 'task', 'task_address']),
  WHOLE,
]

export const shapeOf = (rows: BatchRows): Shape => SHAPES.find((shape) => shape.holds(rows)) ?? WHOLE
