/**
 * One image: written to a folder, recovered by the real adapter, given new work, and checked.
 *
 * Owns the recovery after a power cut. The checks are judge.ts. Never repairs.
 */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { openSqlite } from '#adapters/storage/sqlite/open.ts'
import { judgeFile } from '#test/chaos/judge.ts'
import type { Random } from '#test/support/random.ts'
import { type Receipt, Traffic } from '#test/support/traffic/traffic.ts'

export interface Inspection {
  readonly folder: string
  readonly files: ReadonlyMap<string, Buffer>
  readonly receipts: readonly Receipt[]
  /** Randomness for new work on the recovered ledger; null skips that check. */
  readonly goOn: Random | null
}

const TURNS = 3

const place = (folder: string, files: ReadonlyMap<string, Buffer>): string => {
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  for (const [path, bytes] of files) writeFileSync(join(folder, basename(path)), bytes)
  return join(folder, 'ledger.db')
}

const recover = async (file: string, goOn: Random | null): Promise<readonly Receipt[]> => {
  const { ledger, blobs } = await openSqlite({ file })
  const fresh: Receipt[] = []
  try {
    if (goOn !== null) {
      const traffic = new Traffic({
        ledger,
        blobs,
        random: goOn,
        acknowledge: (receipts) => fresh.push(...receipts),
      })
      for (let turn = 0; turn < TURNS; turn++) await traffic.turn()
    }
    return fresh
  } finally {
    await ledger.close()
  }
}

/** Everything that is wrong with the image, one sentence each. */
export const inspect = async ({ folder, files, receipts, goOn }: Inspection): Promise<readonly string[]> => {
  const file = place(folder, files)
  try {
    const fresh = await recover(file, goOn)
    return await judgeFile(file, [...receipts, ...fresh])
  } catch (error) {
    return [`the image cannot be used: ${error instanceof Error ? error.message : String(error)}`]
  }
}
