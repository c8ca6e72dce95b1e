/**
 * Opens the ledger for one command, behind the same interface as a server.
 *
 * Owns only that opening. Loaded only when no server answers, because the stores are most of the code to load.
 */
import { VERSION } from '#cli/version.ts'
import { createTrihand } from '#compose/assemble.ts'
import { createApp } from '#http/server/app.ts'
import type { Report } from '#http/server/problem.ts'
import type { SystemSource } from '#manifest/define/define.ts'
import { type Api, apiOver } from './api.ts'

export interface LocalOptions {
  readonly database: string
  /** Null: no system, only the ledger. */
  readonly system: SystemSource | null
  readonly isWorking: boolean
  readonly report: Report
  /** False: an older ledger is refused instead of migrated. */
  readonly migrate?: boolean
}

const NOTHING: SystemSource = { name: 'nothing' }

export const localApi = async ({ database, system, isWorking, report, migrate = true }: LocalOptions): Promise<Api> => {
  const trihand = await createTrihand({
    system: system ?? NOTHING,
    database,
    work: isWorking,
    sources: false,
    commands: false,
    migrate,
  })
  const app = createApp(trihand, { version: VERSION, pid: process.pid, report })
  return apiOver(async (path, init) => app.request(path, init), database, {
    isLocal: true,
    url: null,
    close: () => trihand.close(),
  })
}
