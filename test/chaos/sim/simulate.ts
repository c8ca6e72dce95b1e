/**
 * One schedule: a small cast of workers, a few errands, one tape. Synchronous, so that a tape always gives the same history.
 *
 * Owns what the tape can choose: faults, calls from outside, and every order of callbacks.
 */
import { drawErrands } from './errands.ts'
import type { Tape } from './tape.ts'
import { MAX_TICKS, type SimOptions, Theatre, type Verdict } from './theatre.ts'

const WORKERS = [2, 1, 3]

export const simulate = (tape: Tape, options: SimOptions): Verdict => {
  const theatre = new Theatre(tape, { ...options, planned: drawErrands, crashes: [] })
  return theatre.play(() => {
    for (let workers = tape.pick(WORKERS); workers > 0; workers--) theatre.cast.spawn()
    act(theatre, tape)
    tape.end()
    theatre.calm()
    if (theatre.violations.length === 0) theatre.probe()
  })
}

/** While there is tape, and something that could happen. */
const act = (theatre: Theatre, tape: Tape): void => {
  const { scheduler, cast, errands, faults } = theatre
  while (!tape.isOver && scheduler.ticks < MAX_TICKS / 2) {
    const fault = faults.forTurn()
    if (fault !== null) cast.strike(fault)
    if (errands.isPending && tape.odds(100)) errands.doOne()
    else if (scheduler.readyCount > 0) scheduler.runReady(tape.below(scheduler.readyCount))
    else if (errands.isPending && tape.below(3) === 0) errands.doOne()
    else if (!errands.isPending && theatre.isQuiet()) break
    else theatre.wait()
  }
}
