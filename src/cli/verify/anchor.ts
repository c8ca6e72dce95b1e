/**
 * An anchor: the heads of all streams in a file outside the ledger, signed with the seal key. Everything it lists must still be there.
 *
 * Owns the file. A hash chain shows that a fact was changed; only a list that is kept elsewhere shows that a whole run was deleted, or that
 * a run was cut back to an earlier fact.
 *
 * anchor-1  A file that is not signed with the seal key, or was changed, is refused: nothing can be compared with it.
 * anchor-2  The file is replaced as a whole, and only by the heads of a ledger in which nothing is missing or broken.
 */
import { createHash } from 'node:crypto'
import { closeSync, createReadStream, existsSync, fsyncSync, openSync, renameSync, rmSync, writeSync } from 'node:fs'
import { createInterface } from 'node:readline'
import type { StatementSyncInstance } from '@photostructure/sqlite'
import type { Seals } from '#cli/verify/source/seals.ts'
import { UnreadableLedger } from '#cli/verify/source/source.ts'
import type { Findings } from './report.ts'
import type { Scratch } from './scratch.ts'

const FIRST_LINE = 'trihand anchor 1'
const LINE = /^(\w+) (\d+) (\S+)$/
const SIGNATURE = 'signed '
const SCHEMA = `create table anchored (stream text primary key, version integer not null, hash text not null) without rowid;
  create table met (stream text primary key) without rowid`
const CHUNK = 64 * 1024

export interface Anchored {
  readonly version: number
  readonly hash: string
}

const signedText = (content: string): string => `anchor\n${content}`

export class Anchor {
  readonly #file: string
  readonly #seals: Seals
  readonly #get: StatementSyncInstance
  readonly #meet: StatementSyncInstance
  readonly #missing: StatementSyncInstance
  readonly #put: StatementSyncInstance
  readonly #content = createHash('sha256')
  readonly #draft: number
  #pending = ''
  #count = 0
  #isOpen = true

  private constructor(file: string, seals: Seals, scratch: Scratch) {
    this.#file = file
    this.#seals = seals
    const db = scratch.open(SCHEMA)
    this.#put = db.prepare('insert or replace into anchored values (?, ?, ?)')
    this.#get = db.prepare('select version, hash from anchored where stream = ?')
    this.#meet = db.prepare('insert or ignore into met values (?)')
    this.#missing = db.prepare(
      'select stream, version from anchored where stream not in (select stream from met) order by 1',
    )
    this.#draft = openSync(this.#draftFile, 'w', 0o600)
    this.#write(FIRST_LINE)
  }

  static async open(file: string, seals: Seals, scratch: Scratch): Promise<Anchor> {
    if (!seals.hasKey) throw new UnreadableLedger('an anchor needs a signature by the seal key: set TRIHAND_SEAL_KEY')
    let anchor: Anchor
    try {
      anchor = new Anchor(file, seals, scratch)
    } catch (error) {
      throw new UnreadableLedger(`cannot write ${file}: ${String(error)}`, error)
    }
    try {
      if (existsSync(file)) await anchor.#read()
      return anchor
    } catch (error) {
      anchor.#discard()
      throw error
    }
  }

  /** The anchored head of a stream; null: the stream is newer than the anchor. */
  of(stream: string): Anchored | null {
    this.#meet.run(stream)
    return (this.#get.get(stream) as Anchored | undefined) ?? null
  }

  /** Adds a head to the next anchor. */
  keep(stream: string, { version, hash }: Anchored): void {
    this.#count += 1
    this.#write(`${stream} ${version} ${hash}`)
  }

  /** Called after the last stream: reports the anchored streams that are gone. */
  end(findings: Findings): void {
    for (const { stream, version } of this.#missing.all() as unknown as { stream: string; version: number }[])
      findings.expect('V27', false, { stream, seq: null }, () => `it had ${version} facts and is missing`)
  }

  /**
   * Replaces the file, if the ledger still holds everything it listed (anchor-2). Returns the number of streams it lists now; null: it was
   * left as it was.
   */
  close(isWhole: boolean): number | null {
    if (!isWhole) {
      this.#discard()
      return null
    }
    writeSync(this.#draft, this.#pending)
    writeSync(this.#draft, `${SIGNATURE}${this.#seals.seal(signedText(this.#content.digest('base64url')))}\n`)
    fsyncSync(this.#draft)
    this.#closeDraft()
    renameSync(this.#draftFile, this.#file)
    return this.#count
  }

  async #read(): Promise<void> {
    const content = createHash('sha256')
    let signature: string | null = null
    let isFirst = true
    for await (const line of createInterface({ input: createReadStream(this.#file, 'utf8') })) {
      if (signature !== null || (isFirst && line !== FIRST_LINE)) throw this.#refused()
      if (line.startsWith(SIGNATURE)) signature = line.slice(SIGNATURE.length)
      else content.update(`${line}\n`)
      const [, stream, version, hash] = LINE.exec(line) ?? []
      if (stream !== undefined && version !== undefined && hash !== undefined && signature === null)
        this.#put.run(stream, Number(version), hash)
      isFirst = false
    }
    const flaw =
      signature === null ? 'has no signature' : this.#seals.flawOf(signature, signedText(content.digest('base64url')))
    if (flaw !== null) throw this.#refused(flaw)
  }

  #refused(flaw = 'is not an anchor'): UnreadableLedger {
    return new UnreadableLedger(`${this.#file} ${flaw}: restore the anchor from its copy, or name another file`)
  }

  #write(line: string): void {
    this.#content.update(`${line}\n`)
    this.#pending += `${line}\n`
    if (this.#pending.length < CHUNK) return
    writeSync(this.#draft, this.#pending)
    this.#pending = ''
  }

  #closeDraft(): void {
    if (this.#isOpen) closeSync(this.#draft)
    this.#isOpen = false
  }

  #discard(): void {
    this.#closeDraft()
    rmSync(this.#draftFile, { force: true })
  }

  get #draftFile(): string {
    return `${this.#file}.new`
  }
}
