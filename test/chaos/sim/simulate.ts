/**
 * One schedule: a small cast of workers, a few errands, one tape. Synchronous, so that a tape always gives the same history.
 *
 * Owns what the tape can choose: faults, calls from outside, and every order of callbacks.
 */
import { drawErrands } from './errands.ts'
import type { Tape } from './tape.ts'
import { type SimOptions, Theatre, type TheatreOptions, type Verdict } from './theatre.ts'

const WORKERS = [2, 1, 3]

export interface Course extends SimOptions {
  /** Other errands than those that the tape would draw. */
  readonly planned?: TheatreOptions['planned']
}

export const simulate = (tape: Tape, options: Course): Verdict => {
  const theatre = new Theatre(tape, { ...options, planned: options.planned ?? drawErrands, crashes: [] })
  return theatre.play(() => {
    for (let workers = tape.pick(WORKERS); workers > 0; workers--) theatre.cast.spawn()
    act(theatre, tape)
    tape.end()
    theatre.calm()
    if (theatre.violations.length === 0) theatre.probe()
  })
}

/** Continues while there is tape, and something that could happen. */
const act = (theatre: Theatre, tape: Tape): void => {
  const { scheduler, cast, errands, faults } = theatre
  while (!tape.isOver && scheduler.ticks < theatre.maxTicks / 2) {
    const fault = faults.forTurn()
    if (fault !== null) cast.strike(fault)
    if (errands.isPending && tape.odds(100)) errands.doOne()
    else if (scheduler.readyCount > 0) scheduler.runReady(tape.below(scheduler.readyCount))
    else if (errands.isPending && tape.below(3) === 0) errands.doOne()
    else if (!errands.isPending && theatre.isQuiet()) break
    else theatre.wait()
  }
}
