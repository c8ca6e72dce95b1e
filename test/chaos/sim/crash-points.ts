/**
 * Where a worker crashes: at the nth ledger call or effect of a schedule, before it, with it done and unanswered, or after it.
 *
 * Owns the count. Every call of a living worker is a point, so that a sweep can visit all of them.
 */
export const POSITIONS = ['before', 'done', 'after'] as const
export type Position = (typeof POSITIONS)[number]

export interface CrashPoint {
  /** The first is 1. */
  readonly point: number
  readonly position: Position
}

export class CrashPoints {
  readonly #positions: ReadonlyMap<number, Position>
  #passed = 0
  #fired = 0

  constructor(points: readonly CrashPoint[]) {
    this.#positions = new Map(points.map(({ point, position }) => [point, position]))
  }

  /** How many points were passed so far. */
  get passed(): number {
    return this.#passed
  }

  get fired(): number {
    return this.#fired
  }

  /** Counts one more point; returns where to crash, if here. */
  pass(): Position | null {
    this.#passed++
    const position = this.#positions.get(this.#passed) ?? null
    if (position !== null) this.#fired++
    return position
  }
}
