/**
 * The simulated systems: a bill is a list of plays, in both editions of their code.
 *
 * Owns the lists. Defined once per process, because compiling their rules costs more than a schedule.
 */
import { normalise } from '../../../src/manifest/define.ts'
import type { System } from '../../../src/manifest/system.ts'
import { simDigest } from './digest.ts'
import type { Edition, Play, Scene } from './play.ts'
import { book, note, pay, purse, strike } from './plays/effects.ts'
import { announce, custody, family } from './plays/families.ts'
import {
  bundle,
  collect,
  desk,
  drip,
  fresh,
  hold,
  meter,
  oust,
  queue,
  rush,
  shift,
  sole,
  successor,
  trail,
  unique,
} from './plays/gates.ts'
import { consent, review } from './plays/people.ts'
import { brief, chime, flock, march, pulse, tick, tock } from './plays/schedules.ts'
import { flaky, hasty, large, loop, nap, overdue, parallel, probe, prompt, sequence, tardy } from './plays/steps.ts'
import { both, early, either, race } from './plays/waits.ts'

const PLAYS: readonly Play[] = [
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

/** Handlers with a gate, and schedules: a few at a time, or opening them would take longer than the play. */
const CLERKS: readonly (readonly Play[])[] = [
  [trail, meter],
  [collect],
  [bundle, hold],
  [drip, sole],
  [fresh, successor],
  [unique, oust],
  [rush],
  [queue, march],
  [shift, desk],
  [tick, brief],
  [tock],
  [pulse],
  [flock, chime],
]

/** People at work: what they are asked, and what is in doubt. */
const PEOPLE: readonly Play[] = [review, review, consent, pay, strike, purse, purse]

const BY_NAME = new Map([...PLAYS, ...CLERKS.flat(), review, consent, probe, purse].map((play) => [play.name, play]))

export const playOf = (handler: string): Play | undefined => BY_NAME.get(handler)

/** Whether events of this type pass a gate. */
export const hasGate = (type: string): boolean => playOf(type.slice('go.'.length))?.clerk?.kind === 'gate'

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

const define = (scene: Scene, plays: readonly Play[], edition: Edition): System =>
  normalise(
    {
      name: `sim-${edition}`,
      events: Object.fromEntries(EVENTS.map((type) => [type, null])),
      functions: [...plays, probe].flatMap((play) => play.functions(scene, edition)),
      schedules: plays.flatMap((play) => play.schedules ?? []),
    },
    simDigest,
  )

export interface Bill {
  /** What errands are drawn from. */
  readonly plays: readonly Play[]
  readonly editions: { readonly [Key in Edition]: System }
}

/** A schedule plays one of the bills. */
export interface Systems {
  readonly scene: Scene
  readonly bills: readonly [Bill, ...Bill[]]
}

const billOf = (scene: Scene, plays: readonly Play[]): Bill => ({
  plays,
  editions: { 1: define(scene, plays, 1), 2: define(scene, plays, 2) },
})

export const defineSystems = (scene: Scene, plays: readonly Play[] = PLAYS): Systems => ({
  scene,
  bills: [billOf(scene, plays)],
})

export const definePeopleSystems = (scene: Scene): Systems => {
  const bill = billOf(scene, [...new Set(PEOPLE)])
  return { scene, bills: [{ ...bill, plays: PEOPLE }] }
}

export const defineClerkSystems = (scene: Scene): Systems => {
  const [first = [], ...rest] = CLERKS
  return { scene, bills: [billOf(scene, first), ...rest.map((plays) => billOf(scene, plays))] }
}
