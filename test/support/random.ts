/**
 * Repeatable randomness: the same seed gives the same numbers, so a failed run can be repeated.
 *
 * Owns the generator (mulberry32: small, and good enough to choose faults). Never used for secrets.
 */
export class Random {
  #state: number

  constructor(seed: number) {
    this.#state = seed >>> 0
  }

  /** In [0, 1). */
  roll(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0
    let mixed = this.#state
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }

  /** An integer in [0, bound). */
  below(bound: number): number {
    return Math.floor(this.roll() * bound)
  }

  chance(probability: number): boolean {
    return this.roll() < probability
  }

  pick<T>(list: readonly T[]): T {
    const chosen = list[this.below(list.length)]
    if (chosen === undefined) throw new Error('nothing to pick from')
    return chosen
  }

  /** 32 hex digits, for ids that must be unique and repeatable. */
  hex(): string {
    return Array.from({ length: 4 }, () => this.below(4_294_967_296).toString(16).padStart(8, '0')).join('')
  }

  /** The digits of a run's uuid: its version distinguishes a run from a coordinator. */
  uuid(): string {
    return asUuid(this.hex())
  }

  /** Another generator, independent of how often this one is used later. */
  fork(): Random {
    return new Random(this.below(4_294_967_296))
  }
}

/** 32 hex digits with the version of a run's uuid. */
export const asUuid = (hex: string): string => `${hex.slice(0, 12)}7${hex.slice(13)}`
