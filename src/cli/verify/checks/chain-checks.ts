/**
 * Checks along every stream, of a run or a session: sequence numbers, hashes, time and epochs.
 *
 * Reads no body. Each fact is checked against the stored one before it, so that one changed byte is one finding and not a hundred. A row
 * that lags names an earlier fact: its version and its hash must be that fact's, never those of one that does not exist.
 */
import type { Anchored } from '#cli/verify/anchor.ts'
import type { Findings } from '#cli/verify/report.ts'
import type { Seals } from '#cli/verify/source/seals.ts'
import { type FactRow, nameOf, type StreamRow } from '#cli/verify/tables.ts'

const GENESIS = ''

const sealText = (previous: string, stream: string, fact: FactRow): string =>
  `${previous}\n${stream}\n${fact.seq}\n${fact.type}\n${fact.recorded_at}\n${fact.body}`

export class ChainChecks {
  readonly #findings: Findings
  readonly #row: StreamRow
  readonly #stream: string
  readonly #seals: Seals
  /** The head of this stream in the anchor; null: it has none. */
  readonly #anchored: Anchored | null
  #count = 0
  #nextSeq = 0
  #hash = GENESIS
  /** The hash after as many facts as the row counts. */
  #hashOfRow = GENESIS
  #recordedAt = 0
  #epoch = 0

  constructor(findings: Findings, row: StreamRow, seals: Seals, anchored: Anchored | null) {
    this.#findings = findings
    this.#seals = seals
    this.#anchored = anchored
    this.#row = row
    this.#stream = nameOf(row)
  }

  next(fact: FactRow): void {
    const place = { stream: this.#stream, seq: fact.seq }
    const findings = this.#findings
    findings.expect(
      'V2',
      fact.seq === this.#nextSeq,
      place,
      () => `fact ${fact.seq} is in the place of fact ${this.#nextSeq}`,
    )
    const flaw = this.#seals.flawOf(fact.hash, sealText(this.#hash, this.#stream, fact))
    findings.expect(
      'V3',
      flaw === null,
      place,
      () => `fact ${fact.seq} (${fact.type}), after the fact before it, ${flaw}`,
    )
    findings.expect(
      'V6',
      fact.recorded_at >= this.#recordedAt,
      place,
      () => `fact ${fact.seq} was recorded at ${fact.recorded_at}, before the fact before it (${this.#recordedAt})`,
    )
    findings.expect(
      'V12',
      fact.epoch >= this.#epoch,
      place,
      () => `the epoch falls from ${this.#epoch} to ${fact.epoch}`,
    )
    this.#count += 1
    this.#nextSeq = fact.seq + 1
    this.#hash = fact.hash
    if (this.#count === this.#row.version) this.#hashOfRow = fact.hash
    if (this.#count === this.#anchored?.version)
      findings.expect('V27', fact.hash === this.#anchored.hash, place, () => 'its hash is not the anchored hash')
    this.#recordedAt = Math.max(this.#recordedAt, fact.recorded_at)
    this.#epoch = Math.max(this.#epoch, fact.epoch)
  }

  get head(): Anchored {
    return { version: this.#count, hash: this.#hash }
  }

  end(): void {
    const { version, head_hash, epoch, lags } = this.#row
    const place = { stream: this.#stream, seq: null }
    if (this.#anchored !== null) {
      const before = this.#anchored.version
      const sentence = () => `it had ${before} facts when it was anchored, and now has ${this.#count}`
      this.#findings.expect('V27', this.#count >= before, place, sentence)
    }
    this.#findings.expect(
      'V2',
      lags ? version <= this.#count : version === this.#count,
      place,
      () => `the version is ${version}, but there are ${this.#count} facts`,
    )
    this.#findings.expect(
      'V3',
      head_hash === (lags ? this.#hashOfRow : this.#hash),
      place,
      () => `the head hash is not the hash of the ${lags ? `fact that the version ${version} ends with` : 'last fact'}`,
    )
    this.#findings.expect(
      'V12',
      this.#epoch <= epoch,
      place,
      () => `a fact has epoch ${this.#epoch}, above the stream's own epoch ${epoch}`,
    )
  }
}
