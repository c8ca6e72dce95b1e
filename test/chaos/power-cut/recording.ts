/**
 * One life of a process under the shim, and the positions in it at which the power may be cut.
 *
 * Owns starting and killing the child, and which cuts are useful. Never makes an image (disk.ts).
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { temporaryFolder } from '#test/support/places.ts'
import { Program } from '#test/support/program.ts'
import type { Random } from '#test/support/random.ts'
import type { Receipt } from '#test/support/traffic/traffic.ts'
import type { ChildInput, ChildLine } from './child.ts'
import { type Entry, readJournal } from './journal.ts'

export interface Recording {
  readonly entries: readonly Entry[]
  /** Receipts in the order of their acknowledgement, each with the position of that acknowledgement in the journal. */
  readonly receipts: readonly { readonly at: number; readonly receipt: Receipt }[]
}

export const record = async (shim: string, input: Omit<ChildInput, 'file' | 'ackFile'>): Promise<Recording> => {
  const folder = temporaryFolder('power-cut')
  try {
    const log = join(folder.path, 'shim.log')
    const child = new Program({
      source: 'test/chaos/power-cut/child.ts',
      input: {
        ...input,
        file: join(folder.path, 'ledger.db'),
        ackFile: join(folder.path, 'acks.ack'),
      } satisfies ChildInput,
      env: { LD_PRELOAD: shim, TRIHAND_SHIM_LOG: log },
    })
    await isDone(child).finally(() => child.kill())
    return readRecording(log)
  } finally {
    folder.remove()
  }
}

const isDone = async (child: Program): Promise<void> => {
  for (;;) {
    const line = JSON.parse(await child.answer()) as ChildLine
    if (line.kind === 'trouble') throw new Error(`a healthy disk gave ${line.code}: ${line.detail}`)
    if (line.kind === 'done') return
  }
}

/** The log of one life or of several, one after another, on the same files. */
export const readRecording = (log: string): Recording => {
  const entries = readJournal(readFileSync(log))
  return { entries, receipts: entries.flatMap(receiptsIn) }
}

const receiptsIn = (entry: Entry, at: number): Recording['receipts'] =>
  entry.kind === 'ack'
    ? entry.line
        .trimEnd()
        .split('\n')
        .map((line) => ({ at, receipt: JSON.parse(line) as Receipt }))
    : []

/** Where SQLite copies pages into the main file and restarts its log: rare, and the most dangerous position for a cut. */
const checkpoints = (entries: readonly Entry[]): readonly number[] => {
  const main = entries.find((entry) => entry.kind === 'open' && entry.path.endsWith('.db'))
  if (main === undefined || main.kind !== 'open') return []
  return entries.flatMap((entry, at) => (entry.kind === 'write' && entry.file === main.file ? [at] : []))
}

/** Ascending: a third anywhere, a third right after an acknowledgement, a third around checkpoints. */
export const chooseCuts = (entries: readonly Entry[], count: number, random: Random): readonly number[] => {
  const acks = entries.flatMap((entry, at) => (entry.kind === 'ack' ? [at] : []))
  const near = checkpoints(entries)
  const cuts = Array.from({ length: count }, (_, index) => {
    if (index % 3 === 1 && acks.length > 0) return random.pick(acks) + 1
    if (index % 3 === 2 && near.length > 0) return Math.min(entries.length, random.pick(near) + random.below(12))
    return random.below(entries.length + 1)
  })
  return cuts.sort((a, b) => a - b)
}
