/**
 * `trihand demo [--fresh]`: the built-in example on a ledger of its own, which goes on where it was.
 *
 * Owns the first greeting, sent under a fixed id: every start sends it, and only the first one counts.
 */
import { existsSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createTrihand } from '../assemble.ts'
import { problemOf } from '../http/problem.ts'
import { loadSystem } from './load-system.ts'
import { serve } from './serve.ts'
import type { Verb } from './shell.ts'

export interface DemoFlags {
  readonly fresh?: boolean
  readonly port?: number
}

const EXAMPLE = fileURLToPath(new URL('../../examples/hello/system.ts', import.meta.url))
const FIRST = { type: 'greeting.requested', id: 'first', source: 'demo', data: { name: 'Ada' } }
const SUGGESTIONS = [
  `npx trihand send greeting.answered '{"name":"Ada","text":"Hello yourself"}'`,
  `npx trihand send greeting.requested '{"name":"Grace"}'`,
  'npx trihand runs list',
]

/** Whoever holds the ledger keeps it: only one that nobody has open is removed. The lock beside it stays, two owners could hold two. */
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
  const { source } = await loadSystem(EXAMPLE)
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
