/** Large payloads in the ledger's own file, each committed by itself before `put` answers (blobs-1). */
import type { Blobs } from '../../ports/blobs.ts'
import type { Connection } from './connection.ts'
import type { Statements } from './statements.ts'

export class SqliteBlobs implements Blobs {
  readonly #connection: Connection<Statements>

  constructor(connection: Connection<Statements>) {
    this.#connection = connection
  }

  async put(hash: string, text: string): Promise<void> {
    this.#connection.write((sql) => sql.putBlob.run(hash, text))
  }

  async get(hash: string): Promise<string | null> {
    const row = this.#connection.read((sql) => sql.getBlob.get(hash))
    return row === undefined ? null : String(row['body'])
  }
}
