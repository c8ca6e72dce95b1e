/**
 * `trihand demo [--fresh]`: the built-in example on its own ledger, which continues where it was.
 *
 * Owns the first event: every start sends it with the same id, so only the first one has an effect.
 */
import { existsSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { serve } from '#cli/connect/serve.ts'
import { codeFolder } from '#cli/connect/settings.ts'
import { loadSystem } from '#cli/manifest/load-system.ts'
import type { Verb } from '#cli/terminal/shell.ts'
import { createTrihand } from '#compose/assemble.ts'
import { problemOf } from '#http/server/problem.ts'

export interface DemoFlags {
  readonly fresh?: boolean
  readonly port?: number
}

const EXAMPLE = fileURLToPath(new URL('../../examples/campaign/manifest.yaml', import.meta.url))
const FIRST = { type: 'campaign.requested', id: 'first', source: 'demo', data: { campaign_id: 'demo' } }
const SUGGESTIONS = [
  'the inbox: a bundle of nine mails waits for group sales. Edit, reject, approve, then submit',
  `npx trihand send reply.received '{"lead_id":"lead-1","text":"Yes, let us have a call"}'`,
  `npx trihand send reply.received '{"lead_id":"lead-1","text":"Who are you?"}'    # the agent is not sure and asks a person`,
  'npx trihand tasks list',
]

/** Removes the ledger only if no process has it open. The lock file is not removed, since otherwise two processes could each hold a lock. */
const startFresh = async (database: string): Promise<void> => {
  if (!existsSync(database)) return
  try {
    await (await createTrihand({ system: { name: 'demo' }, database, work: false })).close()
  } catch (error) {
    if (problemOf(error).code === 'LEDGER_IN_USE') throw error
  }
  for (const suffix of ['', '-wal', '-shm']) rmSync(`${database}${suffix}`, { force: true })
}

export const demo: Verb<DemoFlags> = async (shell, flags) => {
  const database = join(shell.settings.dataFolder, 'demo.db')
  if (flags.fresh === true) await startFresh(database)
  const { source } = await loadSystem(EXAMPLE, codeFolder(shell.settings))
  return serve(shell, {
    folder: dirname(EXAMPLE),
    source,
    database,
    port: flags.port ?? shell.settings.port,
    first: FIRST,
    suggestions: () => SUGGESTIONS,
    anew: 'npx trihand demo --fresh',
  })
}
