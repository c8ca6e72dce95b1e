/**
 * What is performed for one run in this moment: told to stop when the run leaves.
 *
 * Owns the list. A set would make a new table every few steps; there is one performance at a time, rarely more.
 */
import type { Failure } from '../model/errors.ts'
import { takeOut } from './few.ts'
import type { Performance } from './perform.ts'

export class Performances {
  private readonly list: Performance[] = []

  begin(performance: Performance): void {
    this.list.push(performance)
  }

  end(performance: Performance): void {
    takeOut(this.list, performance)
  }

  abort(failure: Failure): void {
    for (const performance of [...this.list]) performance.abort(failure)
  }
}
