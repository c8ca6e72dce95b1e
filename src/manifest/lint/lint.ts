/**
 * All checks of a manifest that loads: the one table of checks, in the order of their findings.
 *
 * Owns only the list. Each check is a file named after its subject.
 */
import { remarkOf } from '#manifest/yaml/check/definition.ts'
import type { AddFinding } from '#manifest/yaml/finding.ts'
import type { Manifest } from '#manifest/yaml/manifest.ts'
import { TrihandError } from '#model/kernel/errors.ts'
import { lintCycles } from './cycles.ts'
import { lintEnvironment } from './environment.ts'
import { lintEvents } from './events.ts'
import { lintExecutors } from './executors.ts'
import { lintFields } from './fields.ts'
import { lintFiles } from './files.ts'
import type { Folder } from './folder.ts'
import { lintLifecycle } from './lifecycle.ts'
import { lintModules } from './modules.ts'
import { lintNames } from './names.ts'
import { lintPlans } from './plans.ts'
import { lintQueues } from './queues.ts'
import { lintSchemas } from './schemas.ts'
import { lintStates } from './states.ts'
import { lintTables } from './tables.ts'
import { trafficOf } from './traffic.ts'
import { lintWebhooks } from './webhooks.ts'

/** What is known about the surroundings of a manifest; null: nothing. */
export interface Surroundings {
  readonly folder: Folder | null
  /** Names that are set in the environment. */
  readonly environment: ReadonlySet<string> | null
}

type Check = (manifest: Manifest, surroundings: Surroundings, tell: AddFinding) => void

const CHECKS: readonly Check[] = [
  (manifest, _, tell) => lintEvents(manifest, trafficOf(manifest), tell),
  (manifest, _, tell) => lintLifecycle(manifest, trafficOf(manifest), tell),
  (manifest, _, tell) => lintCycles(manifest, tell),
  (manifest, _, tell) => lintSchemas(manifest, tell),
  (manifest, _, tell) => lintFields(manifest, tell),
  (manifest, _, tell) => lintNames(manifest, tell),
  (manifest, _, tell) => lintStates(manifest, tell),
  (manifest, _, tell) => lintExecutors(manifest, tell),
  (manifest, _, tell) => lintModules(manifest, tell),
  (manifest, _, tell) => lintPlans(manifest, tell),
  (manifest, _, tell) => lintQueues(manifest, tell),
  (manifest, _, tell) => lintTables(manifest, tell),
  (manifest, _, tell) => lintWebhooks(manifest, tell),
  (manifest, { environment }, tell) => lintEnvironment(manifest, environment, tell),
  (manifest, { folder }, tell) => {
    if (folder !== null) lintFiles(manifest, folder, tell)
  },
]

/** A check that fails because something cannot be defined ends there, and the others continue. */
export const lint = (manifest: Manifest, surroundings: Surroundings, tell: AddFinding): void => {
  for (const check of CHECKS)
    try {
      check(manifest, surroundings, tell)
    } catch (error) {
      if (!(error instanceof TrihandError)) throw error
      tell(remarkOf(error))
    }
}
