/**
 * Measures each ledger in a child process of its own, so that warmed-up code and process-wide settings of one measurement do not affect
 * another.
 *
 * Owns the child process and how its results come back. Never measures.
 */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { LedgerKind, Result } from './report.ts'

/** Starts this program again for one ledger. Its output is shown; its results come back in a file. */
export const measuredApart = (kind: LedgerKind): readonly Result[] => {
  const folder = mkdtempSync(join(tmpdir(), 'trihand-bench-'))
  const out = join(folder, 'results.json')
  try {
    const [, program = '', ...asked] = process.argv
    const args = [...process.execArgv, program, ...asked, '--ledger', kind, '--out', out]
    const { signal, error } = spawnSync(process.execPath, args, { stdio: ['ignore', 'ignore', 'inherit'] })
    if (signal !== null || error !== undefined) throw new Error(`the bench on ${kind} ended: ${signal ?? error}`)
    return (JSON.parse(readFileSync(out, 'utf8')) as { readonly results: readonly Result[] }).results
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
