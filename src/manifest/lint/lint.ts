/**
 * Everything worth saying about a manifest that loads: the one table of checks, in the order they are told.
 *
 * Owns nothing but the list. Each check is a file named after its noun.
 */
import type { Tell } from '../yaml/finding.ts'
import type { Manifest } from '../yaml/manifest.ts'
import { lintCycles } from './cycles.ts'
import { lintEnvironment } from './environment.ts'
import { lintEvents } from './events.ts'
import { type Folder, lintFiles } from './files.ts'
import { lintHands } from './hands.ts'
import { lintLifecycle } from './lifecycle.ts'
import { lintPlans } from './plans.ts'
import { lintQueues } from './queues.ts'
import { lintSchemas } from './schemas.ts'
import { lintStates } from './states.ts'
import { lintTables } from './tables.ts'
import { trafficOf } from './traffic.ts'

/** What is known of the world around a manifest; null: nothing. */
export interface Surroundings {
  readonly folder: Folder | null
  /** Names that are set in the environment. */
  readonly environment: ReadonlySet<string> | null
}

export const lint = (manifest: Manifest, { folder, environment }: Surroundings, tell: Tell): void => {
  const traffic = trafficOf(manifest)
  lintEvents(manifest, traffic, tell)
  lintLifecycle(manifest, traffic, tell)
  lintCycles(manifest, tell)
  lintSchemas(manifest, tell)
  lintStates(manifest, tell)
  lintHands(manifest, tell)
  lintPlans(manifest, tell)
  lintQueues(manifest, tell)
  lintTables(manifest, tell)
  lintEnvironment(manifest, environment, tell)
  if (folder !== null) lintFiles(manifest, folder, tell)
}
