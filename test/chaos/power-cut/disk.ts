/**
 * A disk that keeps only what was synced, and may keep any part of the rest.
 *
 * Owns the rules of a power cut. Never touches a real file: it takes the journal's entries and returns images as bytes.
 *
 * disk-1  What a successful sync of a file covered is in every image, until it is overwritten.
 * disk-2  A change that no sync covered is present, missing, partial, or present as zeros; each by itself, in any combination.
 * disk-3  Parts are whole sectors of 512 bytes; bytes outside a write never change (SQLite relies on that).
 * disk-4  The fate of what a failed sync should have covered is decided at that moment; no later sync repairs it (as on Linux).
 * disk-5  Names are created and removed in order, and durably only once their folder was synced.
 */
import type { Random } from '#test/support/random.ts'
import type { Entry } from './journal.ts'

const SECTOR_BYTES = 512

/** The fate of the changes that were not synced, in one image. */
export const FATES = ['all_lost', 'all_kept', 'prefix', 'mixed', 'torn'] as const
export type Fate = (typeof FATES)[number]

type Change =
  | { readonly kind: 'write'; readonly offset: number; readonly bytes: Buffer }
  | { readonly kind: 'truncate'; readonly size: number }

type NameChange = { readonly path: string; readonly inode: Inode | null }

class Content {
  #bytes: Buffer
  #size: number

  constructor(bytes: Buffer = Buffer.alloc(0)) {
    this.#bytes = bytes
    this.#size = bytes.length
  }

  write(offset: number, bytes: Buffer): void {
    const end = offset + bytes.length
    if (end > this.#bytes.length) {
      const grown = Buffer.alloc(Math.max(end, this.#bytes.length * 2))
      this.#bytes.copy(grown, 0, 0, this.#size)
      this.#bytes = grown
    }
    bytes.copy(this.#bytes, offset)
    this.#size = Math.max(this.#size, end)
  }

  truncate(size: number): void {
    if (size < this.#size) this.#bytes.fill(0, size, this.#size)
    else this.write(this.#size, Buffer.alloc(size - this.#size))
    this.#size = size
  }

  copy(): Content {
    return new Content(Buffer.from(this.view()))
  }

  view(): Buffer {
    return this.#bytes.subarray(0, this.#size)
  }
}

/** One file as the disk stores it, whatever its name. */
class Inode {
  readonly durable = new Content()
  pending: Change[] = []
}

const apply = (content: Content, change: Change): void => {
  if (change.kind === 'truncate') content.truncate(change.size)
  else content.write(change.offset, change.bytes)
}

/** disk-3: each sector of the write is kept or lost separately. */
const tear = (content: Content, offset: number, bytes: Buffer, random: Random): void => {
  const end = offset + bytes.length
  for (let from = offset; from < end; ) {
    const to = Math.min(end, (Math.floor(from / SECTOR_BYTES) + 1) * SECTOR_BYTES)
    if (random.chance(0.5)) content.write(from, bytes.subarray(from - offset, to - offset))
    from = to
  }
}

const half = (content: Content, offset: number, bytes: Buffer): void => {
  const middle = Math.ceil((offset + bytes.length / 2) / SECTOR_BYTES) * SECTOR_BYTES
  if (middle > offset) content.write(offset, bytes.subarray(0, Math.min(bytes.length, middle - offset)))
}

/** The file has grown, but the new blocks were never written. Old bytes are not touched. */
const zeros = (content: Content, offset: number, bytes: Buffer): void => {
  const size = content.view().length
  const end = offset + bytes.length
  if (end > size) content.write(Math.max(offset, size), Buffer.alloc(end - Math.max(offset, size)))
}

const applyInPart = (content: Content, change: Change, random: Random): void => {
  const roll = random.below(5)
  if (roll === 0) return
  if (roll === 1 || change.kind === 'truncate') apply(content, change)
  else if (roll === 2) half(content, change.offset, change.bytes)
  else if (roll === 3) zeros(content, change.offset, change.bytes)
  else tear(content, change.offset, change.bytes, random)
}

const survive = (content: Content, pending: readonly Change[], fate: Fate, random: Random): void => {
  const last = fate === 'prefix' ? random.below(pending.length + 1) : pending.length
  for (const [index, change] of pending.entries()) {
    if (fate === 'all_kept' || (fate === 'prefix' && index < last)) apply(content, change)
    else if (fate === 'mixed' || (fate === 'prefix' && index === last)) applyInPart(content, change, random)
    else if (fate === 'torn' && change.kind === 'write') tear(content, change.offset, change.bytes, random)
  }
}

export class Disk {
  readonly #random: Random
  readonly #paths = new Map<number, string>()
  /** The content that the process sees, and what a power cut leaves for certain. */
  readonly #names = new Map<string, Inode>()
  readonly #durableNames = new Map<string, Inode>()
  #pendingNames: NameChange[] = []

  /** Randomness is used only for disk-4. */
  constructor(random: Random) {
    this.#random = random
  }

  apply(entry: Entry): void {
    switch (entry.kind) {
      case 'open':
        this.#paths.set(entry.file, entry.path)
        if (entry.created) this.#rename(entry.path, new Inode())
        break
      case 'write':
        this.#inode(entry.file).pending.push({ kind: 'write', offset: entry.offset, bytes: entry.bytes })
        break
      case 'truncate':
        this.#inode(entry.file).pending.push({ kind: 'truncate', size: entry.size })
        break
      case 'sync':
        this.#sync(this.#inode(entry.file), 'all_kept')
        break
      case 'sync_failed':
        this.#sync(this.#inode(entry.file), this.#random.pick(FATES))
        break
      case 'unlink':
        this.#rename(entry.path, null)
        break
      case 'folder_sync':
        this.#keepNames(this.#durableNames, this.#pendingNames)
        this.#pendingNames = []
        break
      case 'ack':
        break
    }
  }

  /** The files as they might be found after the power returns. */
  image(fate: Fate, random: Random): ReadonlyMap<string, Buffer> {
    const names = new Map(this.#durableNames)
    const kept =
      fate === 'all_lost'
        ? 0
        : fate === 'all_kept'
          ? this.#pendingNames.length
          : random.below(this.#pendingNames.length + 1)
    this.#keepNames(names, this.#pendingNames.slice(0, kept))
    const files = new Map<string, Buffer>()
    for (const [path, inode] of names) {
      const content = inode.durable.copy()
      survive(content, inode.pending, fate, random)
      files.set(path, content.view())
    }
    return files
  }

  #sync(inode: Inode, fate: Fate): void {
    survive(inode.durable, inode.pending, fate, this.#random)
    inode.pending = []
  }

  #rename(path: string, inode: Inode | null): void {
    this.#keepNames(this.#names, [{ path, inode }])
    this.#pendingNames.push({ path, inode })
  }

  #keepNames(names: Map<string, Inode>, changes: readonly NameChange[]): void {
    for (const { path, inode } of changes) {
      if (inode === null) names.delete(path)
      else names.set(path, inode)
    }
  }

  #path(file: number): string {
    const path = this.#paths.get(file)
    if (path === undefined) throw new Error(`file ${file} was never opened`)
    return path
  }

  #inode(file: number): Inode {
    const inode = this.#names.get(this.#path(file))
    if (inode === undefined) throw new Error(`${this.#path(file)} was never made while the shim was watching`)
    return inode
  }
}
