/**
 * Rows in the order of their streams, returned stream by stream, so that several tables can be read side by side.
 *
 * Holds one row at a time. The caller must ask for every stream that has rows, in their order.
 */
import type { Key } from '#cli/verify/source/source.ts'

export class Cursor<Row extends { readonly stream: Key }> {
  readonly #rows: AsyncIterator<Row>
  #next: IteratorResult<Row> | null = null

  constructor(rows: AsyncIterable<Row>) {
    this.#rows = rows[Symbol.asyncIterator]()
  }

  async *of(stream: Key): AsyncGenerator<Row> {
    for (;;) {
      this.#next ??= await this.#rows.next()
      if (this.#next.done === true || this.#next.value.stream !== stream) return
      const row = this.#next.value
      this.#next = null
      yield row
    }
  }

  async all(stream: Key): Promise<readonly Row[]> {
    const rows: Row[] = []
    for await (const row of this.of(stream)) rows.push(row)
    return rows
  }
}
