/**
 * A rule that the simulation does not reach, checked against a separate formulation, with seeded mistakes that the same proof must find.
 *
 * Owns the shape. The rule under test is an argument of its proof, so that a seeded mistake is another rule in its place.
 */
export interface Seeded<Rules> {
  /** What it does wrong. */
  readonly name: string
  /** The rules with the mistake; the function that `plant` returns removes a mistake that was put into the code itself. */
  readonly rules?: Partial<Rules>
  readonly plant?: () => () => void
}

interface Given<Rules> {
  /** The promise. */
  readonly name: string
  readonly rules: Rules
  /** Throws or rejects if the promise is broken. */
  readonly prove: (rules: Rules) => void | Promise<void>
  readonly mutants: readonly Seeded<Rules>[]
}

export interface Proof {
  readonly name: string
  readonly prove: () => Promise<void>
  readonly mutants: readonly { readonly name: string; readonly isFound: () => Promise<boolean> }[]
}

export const proof = <Rules>({ name, rules, prove, mutants }: Given<Rules>): Proof => ({
  name,
  prove: async () => prove(rules),
  mutants: mutants.map(({ name: mistake, rules: wrong, plant }) => ({
    name: mistake,
    isFound: async () => {
      const remove = plant?.() ?? (() => {})
      try {
        await prove({ ...rules, ...wrong })
        return false
      } catch {
        return true
      } finally {
        remove()
      }
    },
  })),
})

/** The same cases on every machine. */
export const CASES = { numRuns: 300, seed: 20_261_118 }
