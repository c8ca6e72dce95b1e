/**
 * The simulated systems: a bill is a list of plays, in both editions of their code.
 *
 * Owns the lists. Defined once per process, because compiling their rules costs more than a schedule.
 */
import { normalise } from '#manifest/define/define.ts'
import type { System } from '#manifest/define/system.ts'
import { book, note, pay, purse, strike } from '#test/chaos/sim/plays/effects.ts'
import { announce, custody, family } from '#test/chaos/sim/plays/families.ts'
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
} from '#test/chaos/sim/plays/gates.ts'
import { parcel, recall } from '#test/chaos/sim/plays/keys.ts'
import { again, brood, kid, punctual } from '#test/chaos/sim/plays/lives.ts'
import { consent, review } from '#test/chaos/sim/plays/people.ts'
import { brief, chime, flock, march, pulse, refill, tick, tock } from '#test/chaos/sim/plays/schedules.ts'
import {
  flaky,
  hasty,
  large,
  loop,
  nap,
  overdue,
  parallel,
  probe,
  prompt,
  sequence,
  tardy,
} from '#test/chaos/sim/plays/steps.ts'
import { both, early, either, race } from '#test/chaos/sim/plays/waits.ts'
import { simDigest } from './digest.ts'
import type { Play, Scene } from './play.ts'
import type { Edition } from './world.ts'

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

/** Handlers with a gate, and schedules: only a few at a time, or opening them would take longer than the play. */
const COORDINATORS: readonly (readonly Play[])[] = [
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

/** People at work: their questions, and uncertain steps. */
const PEOPLE: readonly Play[] = [review, review, consent, pay, strike, purse, purse]

/** Runs that fail and are retried, the keys that they hold, and slots of the past. */
const LIVES: readonly (readonly Play[])[] = [[again], [brood, punctual], [parcel], [recall], [refill]]

const BY_NAME = new Map(
  [...PLAYS, ...COORDINATORS.flat(), ...LIVES.flat(), kid, review, consent, probe, purse].map((play) => [
    play.name,
    play,
  ]),
)

export const playOf = (handler: string): Play | undefined => BY_NAME.get(handler)

/** True if events of this type pass a gate. */
export const hasGate = (type: string): boolean => playOf(type.slice('go.'.length))?.coordinator?.kind === 'gate'

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

/** The same world, as the code of one edition sees it. */
const sceneOf = (scene: Scene, edition: Edition): Scene =>
  Object.create(scene, { edition: { value: edition } }) as Scene

const define = (scene: Scene, plays: readonly Play[], edition: Edition): System =>
  normalise(
    {
      name: `sim-${edition}`,
      events: Object.fromEntries(EVENTS.map((type) => [type, null])),
      functions: [...plays, probe].flatMap((play) => play.functions(sceneOf(scene, edition), edition)),
      schedules: plays.flatMap((play) => play.schedules ?? []),
    },
    simDigest,
  )

export interface Bill {
  /** What errands are drawn from. */
  readonly plays: readonly Play[]
  readonly editions: { readonly [Key in Edition]: System }
}

/** A schedule uses one of the bills. */
export interface Systems {
  readonly scene: Scene
  readonly bills: readonly [Bill, ...Bill[]]
  /** As in a real process: its workers report their identity, and its gates store what they can find by key as documents. */
  readonly isComplete?: boolean
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

const systemsOf = (scene: Scene, [first = [], ...rest]: readonly (readonly Play[])[]): Systems => ({
  scene,
  bills: [billOf(scene, first), ...rest.map((plays) => billOf(scene, plays))],
})

export const defineCoordinatorSystems = (scene: Scene): Systems => systemsOf(scene, COORDINATORS)

export const defineLifeSystems = (scene: Scene): Systems => ({ ...systemsOf(scene, LIVES), isComplete: true })
