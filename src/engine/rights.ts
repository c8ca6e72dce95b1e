/**
 * What the code of a run may do, asked at the edge where it would happen: an event sent, a document written, a function called.
 *
 * Owns which capability each of these needs. What a module allows is model/module.ts; a run without a module is not limited.
 */
import type { FunctionDefinition } from '../manifest/system.ts'
import { type Capability, demand, type Module } from '../model/module.ts'
import type { TaskRequest } from '../ports/step-gate.ts'
import type { House } from './house.ts'

const EMITS: Capability = { kind: 'operation', name: 'emit_event' }
const CALLS: Capability = { kind: 'operation', name: 'api_call' }
const WRITES: Capability = { kind: 'operation', name: 'db_write' }

/** By the definition in force: a list that was narrowed binds runs at work, too. */
export const moduleOf = (house: Pick<House, 'system'>, handler: string): Module | null =>
  house.system().functions.get(handler)?.module ?? null

export const demandEvent = (module: Module | null, type: string): void =>
  demand(module, EMITS, { kind: 'event', name: type })

export const demandTable = (module: Module | null, table: string): void =>
  demand(module, WRITES, { kind: 'write', name: table })

/** Functions of the same module, and those without one, are free to call. */
export const demandCall = (module: Module | null, callee: FunctionDefinition): void => {
  if (callee.module !== null && callee.module.name !== module?.name)
    demand(module, { kind: 'module', name: callee.module.name })
}

/** Performed in this process from what the task holds. Everything else asks somebody outside. */
const LOCAL_TYPES: ReadonlySet<string> = new Set(['template_engine', 'document_processor', 'classifier'])

/** A classifier that may ask a model reaches outside too. */
export const demandTask = (definition: FunctionDefinition | undefined, { executorType, task }: TaskRequest): void => {
  const asksModel = typeof task.input === 'object' && task.input !== null && 'model' in task.input
  if (!LOCAL_TYPES.has(executorType) || asksModel) demand(definition?.module ?? null, CALLS)
}
