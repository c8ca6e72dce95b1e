/**
 * Checks blobs: the text of each matches its name, and every blob that a fact names exists.
 *
 * The hash chain seals a fact's body, the body names the blob, and the name is its hash: so these findings count as V3.
 */
import { Batch } from '#cli/verify/batch.ts'
import type { Opened } from '#cli/verify/opened.ts'
import { type Findings, NOWHERE, type Place } from '#cli/verify/report.ts'
import { digest } from '#cli/verify/source/seals.ts'
import type { Tables } from '#cli/verify/tables.ts'

interface NamedBlob {
  readonly hash: string
  readonly place: Place
}

export class BlobChecks {
  readonly #findings: Findings
  readonly #tables: Tables
  readonly #named: Batch<NamedBlob>
  readonly #opened: Opened

  constructor(findings: Findings, tables: Tables, opened: Opened) {
    this.#opened = opened
    this.#findings = findings
    this.#tables = tables
    this.#named = new Batch(async (named) => {
      const missing = await tables.missingBlobs([...new Set(named.map(({ hash }) => hash))])
      for (const { hash, place } of named) {
        findings.expect('V3', !missing.has(hash), place, () => `the fact names blob ${hash}, which is missing`)
      }
    })
  }

  named(hash: string, place: Place): void {
    this.#named.add({ hash: this.#opened.blobName(hash), place })
  }

  settle(): Promise<void> {
    return this.#named.settle()
  }

  /** Reads each blob once, however many facts share it. */
  async end(): Promise<void> {
    await this.#named.end()
    for await (const { hash, body } of this.#tables.blobs()) {
      this.#findings.expect(
        'V3',
        this.#opened.blobName(digest(this.#opened.blob(hash, body))) === hash,
        NOWHERE,
        () => `the content of blob ${hash} does not match its hash`,
      )
    }
  }
}
