/**
 * The executions under way for one run: they are aborted when the run leaves memory.
 *
 * Owns the list. Nearly always these are the handler and one step: each has its own field, because a JavaScript array that grows
 * reserves room for seventeen.
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
