/** Locks the row of one stream like a slow writer: every other writer of the row must wait. */
import pg from 'pg'
import type { StreamId } from '#model/kernel/ids.ts'

export class RowHolder {
  #client: pg.Client | null

  private constructor(client: pg.Client) {
    this.#client = client
  }

  static async lock(url: string, stream: StreamId): Promise<RowHolder> {
    const client = new pg.Client({ connectionString: url })
    await client.connect()
    await client.query('begin')
    await client.query('select from stream where id = $1 for update', [stream.slice(4)])
    return new RowHolder(client)
  }

  /** Safe to call twice. */
  async release(): Promise<void> {
    const client = this.#client
    this.#client = null
    await client?.query('rollback')
    await client?.end()
  }
}
