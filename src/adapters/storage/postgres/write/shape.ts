/**
 * The kinds of batches: which lists a statement takes, and the order of its parameters.
 *
 * Owns the choice of a shape. There are few shapes, because each connection keeps the plan of each; the smallest one that holds all
 * lists of a batch is chosen, because a part without rows costs time as well.
 */
import { toArrays, unnest } from '#adapters/storage/postgres/columns.ts'
import { type BatchRows, LISTS, type ListName } from './lists.ts'
import { SINGLE_LIST, SINGLE_VIEWS } from './single.ts'

/** Lists that are read from the prelude. */
type Views = { readonly [Name in ListName]?: string }

export class Shape {
  readonly name: string
  /** A list that comes before all others, as a part of the statement. */
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

  /** True if the batch may signal streams that it does not write. */
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

  /** The indexes of all appends, for batches with events. Not a series: the planner could not know its length, and sizes tables by guess. */
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

/** Condition for rows of a list whose append has not lost. */
export const wins = (list: string): string => `${list}.append not in (select append from lost)`

const NAMES = Object.keys(LISTS) as readonly ListName[]

/**
 * In order: most steps of a run; a new run; events without waits, with the runs they start; the end of a run; a run that parks; any
 * event that starts runs; a task that is created, changed or closed; everything else.
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
