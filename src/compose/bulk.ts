/**
 * The wiring of bulk jobs: the function that every system has for them, and the service that creates them.
 *
 * Owns nothing else. Contains no rules.
 */
import type { Engine } from '#engine/core/engine.ts'
import { type BulkDeps, bulkHandler } from '#executors/workflow/bulk.ts'
import { BULK, ownFunction } from '#manifest/define/builtin-functions.ts'
import type { System } from '#manifest/define/system.ts'
import { Jobs } from '#modes/jobs.ts'
import type { Reader } from '#ports/reader.ts'

/** Functions, because the engine does not exist yet when its first system is defined. */
export const withBulk = (system: System, engine: () => Engine, reader: () => BulkDeps['reader']): System => {
  const code = bulkHandler({
    reader: {
      runs: (query) => reader().runs(query),
      document: (...asked) => reader().document(...asked),
    },
    applyBulkCommand: (tenant, run, word) => engine().of(tenant).applyBulkCommand(run, word),
  })
  return { ...system, functions: new Map([...system.functions, [BULK, ownFunction(BULK, code)]]) }
}

export const openJobs = (engine: Engine, reader: Pick<Reader, 'run' | 'document'>): Jobs =>
  new Jobs({
    tenant: engine.tenant,
    start: (name, input, options) => engine.startRun(name, input, { ...options, isOwn: true }),
    reader,
  })
