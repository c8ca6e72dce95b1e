/**
 * A handler whose runs pass a gate, and a run that is asked for by name.
 *
 * Owns the two shapes; which gates there are is clerk-book.ts.
 */
import type { FlowDefinition } from '../manifest/flow.ts'
import type { FunctionDefinition, Listener } from '../manifest/system.ts'
import type { Call } from '../model/arrival.ts'
import type { GateId } from '../model/ids.ts'
import type { Json } from '../model/json.ts'

/** A handler with flow control that needs memory, and what it listens to. */
export interface GateKeeping {
  readonly id: GateId
  readonly definition: FunctionDefinition
  readonly flow: FlowDefinition
  readonly listeners: ReadonlyMap<string, Listener>
}

/** A run that is asked for. `value` is what rules see as the payload. */
export interface AskedRun {
  readonly call: Call
  readonly value: Json
}
