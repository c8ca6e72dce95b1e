/**
 * The collector of young objects on a machine with two cores: once SQLite has one of them, there is none left for helpers.
 *
 * Owns this one setting of the process (docs/decisions/0081). Four helpers share the copying otherwise; where two threads are at work
 * already they take the core from SQLite, and the engine stands still until the last of them has had its turn.
 */
import { availableParallelism } from 'node:os'
import { setFlagsFromString } from 'node:v8'

const TAKEN = 2

/** Never undone: a process that was busy once will be again, and whoever started it with the same setting keeps it. */
export const collectAlone = (
  cores: number = availableParallelism(),
  set: (flag: string) => void = setFlagsFromString,
): void => {
  if (cores <= TAKEN) set('--no-parallel-scavenge')
}
