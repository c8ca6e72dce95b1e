/**
 * The simulated system: all plays in both editions of their code.
 *
 * Owns the list. Defined once per process, because compiling its rules costs more than a schedule.
 */
import { normalise } from '../../../src/manifest/define.ts'
import type { System } from '../../../src/manifest/system.ts'
import { simDigest } from './digest.ts'
import type { Edition, Play, Scene } from './play.ts'
import { book, note, pay, strike } from './plays/effects.ts'
import { announce, custody, family } from './plays/families.ts'
import { flaky, hasty, large, loop, nap, overdue, parallel, probe, prompt, sequence, tardy } from './plays/steps.ts'
import { both, early, either, race } from './plays/waits.ts'

/** What errands are drawn from. */
export const PLAYS: readonly Play[] = [
  sequence,
  parallel,
  nap,
  either,
  both,
  early,
  race,
  flaky,
  hasty,
  pay,
  strike,
  book,
  note,
  family,
  custody,
  announce,
  loop,
  overdue,
  prompt,
  large,
  tardy,
]

const ALL: readonly Play[] = [...PLAYS, probe]

export const playOf = (handler: string): Play | undefined => ALL.find((play) => play.name === handler)

const EVENTS = [
  'said.yes',
  'said.no',
  'part.one',
  'part.two',
  'bell.rang',
  'flag.waved',
  'gate.opened',
  'never.comes',
  'ghost.seen',
]

const define = (scene: Scene, edition: Edition): System =>
  normalise(
    {
      name: `sim-${edition}`,
      events: Object.fromEntries(EVENTS.map((type) => [type, null])),
      functions: ALL.flatMap((play) => play.functions(scene, edition)),
    },
    simDigest,
  )

export interface Systems {
  readonly scene: Scene
  readonly editions: { readonly [Key in Edition]: System }
}

export const defineSystems = (scene: Scene): Systems => ({
  scene,
  editions: { 1: define(scene, 1), 2: define(scene, 2) },
})
