/**
 * The crash sweep on a real SQLite file: the same visits, each on a file of its own, with the memory store as its twin.
 *
 * Owns the files. A crash here loses the process's memory; disk crashes are tested by kill and power cut.
 */
import { join } from 'node:path'
import { openSqlite } from '#adapters/storage/sqlite/open.ts'
import { fastFolder } from '#test/support/places.ts'
import { type CrashPoint, POSITIONS } from './crash-points.ts'
import { inMacrotask } from './microtasks.ts'
import { pointsUpTo, type Scenario, type Visit, visit } from './sweep.ts'
import type { Systems } from './system.ts'
import { twin } from './twin.ts'

const visitOnFile = async (scenario: Scenario, systems: Systems, crashes: readonly CrashPoint[]): Promise<Visit> => {
  const folder = fastFolder('sweep')
  const { ledger } = await openSqlite({ file: join(folder.path, 'ledger.db'), durability: 'relaxed' })
  const differences: string[] = []
  try {
    const differ = (sentence: string): void => void differences.push(`sqlite: ${sentence}`)
    const seen = await inMacrotask(() =>
      visit(scenario, { systems, atStore: (memory) => twin(memory, ledger, differ) }, crashes),
    )
    return { ...seen, violations: [...seen.violations, ...differences] }
  } finally {
    await ledger.close()
    folder.remove()
  }
}

export interface FileSweep {
  readonly visits: number
  readonly violations: readonly string[]
}

/** All points, one crash each. */
export const sweepOnFile = async (scenario: Scenario, systems: Systems): Promise<FileSweep> => {
  const { points, violations: calm } = await visitOnFile(scenario, systems, [])
  const violations = calm.map((violation) => `${scenario.name} on SQLite: ${violation}`)
  const crashes = pointsUpTo(points, POSITIONS)
  for (const crash of crashes) {
    const { violations: found } = await visitOnFile(scenario, systems, [crash])
    const place = `${scenario.name} on SQLite, crash ${crash.position} ${crash.point}`
    violations.push(...found.map((violation) => `${place}: ${violation}`))
  }
  return { visits: crashes.length + 1, violations }
}
