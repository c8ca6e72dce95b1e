/**
 * Many schedules, one after another: each seed of a range is the beginning of a tape.
 *
 * Owns counting and the report of failures. A failure can be repeated from its seed alone.
 */
import { FAULT_NAMES, type FaultName } from './faults.ts'
import { inMacrotask } from './microtasks.ts'
import type { Play, Scene } from './play.ts'
import { type Course, simulate } from './simulate.ts'
import {
  defineCoordinatorSystems,
  defineLifeSystems,
  definePeopleSystems,
  defineSystems,
  type Systems,
} from './system.ts'
import { Tape } from './tape.ts'
import type { SimOptions, Verdict } from './theatre.ts'

export interface Failed {
  readonly seed: number
  readonly violations: readonly string[]
  readonly tape: readonly number[]
  readonly tell: () => readonly string[]
}

export interface CampaignReport {
  readonly schedules: number
  readonly runs: number
  readonly facts: number
  readonly ticks: number
  readonly fired: Record<FaultName, number>
  readonly failed: readonly Failed[]
}

const TAPE_LENGTH = 900

/** The scene gets its world with the first schedule. */
export const newSystems = (plays?: readonly Play[]): Systems => defineSystems({} as Scene, plays)

/** Handlers with gates, and schedules. */
export const newCoordinatorSystems = (): Systems => defineCoordinatorSystems({} as Scene)

/** People who are asked, decide, reassign and are late. */
export const newPeopleSystems = (): Systems => definePeopleSystems({} as Scene)

/** Runs that fail and are retried, keys, slots of the past. */
export const newLifeSystems = (): Systems => defineLifeSystems({} as Scene)

const unhandled: unknown[] = []
let isListening = false

/** An unhandled rejection would end a real process. */
const listen = (): void => {
  if (isListening) return
  isListening = true
  process.on('unhandledRejection', (reason) => unhandled.push(reason))
}

/** One schedule, run from a macrotask, with the rejections that it left behind. */
export const playTape = async (tape: Tape, options: Course): Promise<Verdict> => {
  listen()
  unhandled.length = 0
  const verdict = await inMacrotask(() => simulate(tape, options))
  const left = unhandled.map((reason) => `nobody handled: ${reason instanceof Error ? reason.stack : String(reason)}`)
  return left.length === 0 ? verdict : { ...verdict, violations: [...verdict.violations, ...left] }
}

export const playSeed = async (
  seed: number,
  options: SimOptions,
): Promise<Verdict & { readonly tape: readonly number[] }> => {
  const tape = Tape.seeded(seed, TAPE_LENGTH)
  const verdict = await playTape(tape, options)
  return { ...verdict, tape: tape.entries }
}

/** Runs the seeds from `from` on; stops early after this many failures. */
export const runCampaign = async (
  from: number,
  schedules: number,
  options: SimOptions,
  maxFailures = 5,
): Promise<CampaignReport> => {
  const fired = Object.fromEntries(FAULT_NAMES.map((name) => [name, 0])) as Record<FaultName, number>
  const failed: Failed[] = []
  let [played, runs, facts, ticks] = [0, 0, 0, 0]
  for (let seed = from; seed < from + schedules && failed.length < maxFailures; seed++) {
    const verdict = await playSeed(seed, options)
    played++
    runs += verdict.runs
    facts += verdict.facts
    ticks += verdict.ticks
    for (const name of FAULT_NAMES) fired[name] += verdict.fired[name] ?? 0
    if (verdict.violations.length > 0)
      failed.push({ seed, violations: verdict.violations, tape: verdict.tape, tell: verdict.tell })
  }
  return { schedules: played, runs, facts, ticks, fired, failed }
}
