/**
 * What is performed for one run in this moment: told to stop when the run leaves.
 *
 * Owns the list. The handler is performed, and nearly always one step: these two have places of their own, because a list that is grown
 * has room for seventeen.
 */
import { takeOut } from '#engine/hot/few.ts'
import type { Failure } from '#model/kernel/errors.ts'
import type { Performance } from './perform.ts'

export class Performances {
  private first: Performance | null = null
  private second: Performance | null = null
  private more: Performance[] | null = null

  begin(performance: Performance): void {
    if (this.first === null) this.first = performance
    else if (this.second === null) this.second = performance
    else if (this.more === null) this.more = [performance]
    else this.more.push(performance)
  }

  end(performance: Performance): void {
    if (this.first === performance) this.first = null
    else if (this.second === performance) this.second = null
    else if (this.more !== null) takeOut(this.more, performance)
  }

  abort(failure: Failure): void {
    const { first, second } = this
    const others = this.more === null ? [] : [...this.more]
    first?.abort(failure)
    second?.abort(failure)
    for (const performance of others) performance.abort(failure)
  }
}
