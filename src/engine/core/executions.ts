/**
 * What is performed for one run in this moment: told to stop when the run leaves.
 *
 * Owns the list. The handler is performed, and nearly always one step: these two have places of their own, because a list that is grown
 * has room for seventeen.
 */
import { takeOut } from '#engine/hot/small-map.ts'
import type { Failure } from '#model/kernel/errors.ts'
import type { Execution } from './perform.ts'

export class Executions {
  private first: Execution | null = null
  private second: Execution | null = null
  private more: Execution[] | null = null

  begin(execution: Execution): void {
    if (this.first === null) this.first = execution
    else if (this.second === null) this.second = execution
    else if (this.more === null) this.more = [execution]
    else this.more.push(execution)
  }

  end(execution: Execution): void {
    if (this.first === execution) this.first = null
    else if (this.second === execution) this.second = null
    else if (this.more !== null) takeOut(this.more, execution)
  }

  abort(failure: Failure): void {
    const { first, second } = this
    const others = this.more === null ? [] : [...this.more]
    first?.abort(failure)
    second?.abort(failure)
    for (const execution of others) execution.abort(failure)
  }
}
