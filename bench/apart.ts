/**
 * Each ledger measured by a process of its own, as each is served by one: what one of them has warmed up, or set for its process, says
 * nothing about the other.
 *
 * Owns the child and the way of its results back. Never measures.
 */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { LedgerKind, Result } from './report.ts'

/** This very program once more, for one ledger. What it says is seen; its results come as a file. */
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
