/**
 * What is performed for one run in this moment: told to stop when the run leaves.
 *
 * Owns the list. A set would make a new table every few steps; there is one performance at a time, rarely more.
 */
import type { Failure } from '../model/errors.ts'
import type { Performance } from './perform.ts'

export class Performances {
  private readonly list: Performance[] = []

  begin(performance: Performance): void {
    this.list.push(performance)
  }

  end(performance: Performance): void {
    const place = this.list.indexOf(performance)
    if (place < 0) return
    const last = this.list.pop()
    if (last !== undefined && last !== performance) this.list[place] = last
  }

  abort(failure: Failure): void {
    for (const performance of [...this.list]) performance.abort(failure)
  }
}
