/** Large payloads in the ledger's own database, each committed by itself before `put` answers (blobs-1). */
import type { Blobs } from '#ports/blobs.ts'
import type { Database, Statement } from './pool.ts'

const PUT: Statement = {
  name: 'put_blob',
  text: 'insert into blob (hash, body) values ($1, $2) on conflict (hash) do nothing',
}
const GET: Statement = { name: 'get_blob', text: 'select body from blob where hash = $1' }

export class PostgresBlobs implements Blobs {
  readonly #database: Database

  constructor(database: Database) {
    this.#database = database
  }

  async put(hash: string, text: string): Promise<void> {
    await this.#database.query(PUT, [hash, text])
  }

  async get(hash: string): Promise<string | null> {
    const [row] = await this.#database.query<{ body: string }>(GET, [hash])
    return row?.body ?? null
  }
}
