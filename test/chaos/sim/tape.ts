/**
 * The source of every choice of a schedule: a list of whole numbers.
 *
 * Owns how a number becomes a choice. Past the end, and for every 0, the choice is the simplest: first in line, no fault. So a
 * shorter tape with smaller numbers is a simpler schedule, and shrinking a failing tape leads to the cause.
 */
import { Random } from '#test/support/random.ts'

const RANGE = 2 ** 31

export class Tape {
  readonly #read: number[] = []
  readonly #draw: () => number | undefined

  private constructor(draw: () => number | undefined) {
    this.#draw = draw
  }

  static of(entries: readonly number[]): Tape {
    let position = 0
    return new Tape(() => entries[position++])
  }

  /** `first` are fixed choices before the random ones. */
  static seeded(seed: number, length: number, first: readonly number[] = []): Tape {
    const random = new Random(seed)
    let position = 0
    return new Tape(() => (position < length ? (first[position++] ?? random.below(RANGE)) : undefined))
  }

  #isOver = false

  get isOver(): boolean {
    return this.#isOver
  }

  /** What was read so far: the tape of a seeded schedule, to be printed and shrunk. */
  get entries(): readonly number[] {
    return this.#read
  }

  /** From here on every choice is the simplest. */
  end(): void {
    this.#isOver = true
  }

  next(): number {
    if (this.#isOver) return 0
    const entry = this.#draw()
    if (entry === undefined) {
      this.#isOver = true
      return 0
    }
    this.#read.push(entry)
    return entry
  }

  /** A whole number in [0, bound). */
  below(bound: number): number {
    return bound <= 1 ? 0 : this.next() % bound
  }

  pick<T>(list: readonly T[]): T {
    const chosen = list[this.below(list.length)]
    if (chosen === undefined) throw new Error('nothing to pick from')
    return chosen
  }

  /** True this many times in a thousand; never for 0. Uses no entry if the odds are zero. */
  odds(perMille: number): boolean {
    return perMille > 0 && this.next() % 1_000 >= 1_000 - perMille
  }
}
