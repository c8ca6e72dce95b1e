/**
 * Switches off helper threads of the young generation's garbage collector on machines with two cores or fewer.
 *
 * Owns this one setting of the process (docs/decisions/0081). By default four helpers share the copying; where two threads are busy
 * already (the engine and SQLite) they take the core from SQLite, and the engine stands still until the last of them has finished.
 */
import { availableParallelism } from 'node:os'
import { setFlagsFromString } from 'node:v8'

const TAKEN = 2

/** Never undone: a process that was busy once will be again, and undoing it would also drop the same flag if the user set it at start. */
export const collectAlone = (
  cores: number = availableParallelism(),
  set: (flag: string) => void = setFlagsFromString,
): void => {
  if (cores <= TAKEN) set('--no-parallel-scavenge')
}
