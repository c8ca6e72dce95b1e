/**
 * Checks what the code of a run may do, at the point where it would happen: an event sent, a document written, a function called.
 *
 * Owns which capability each of these needs. What a module allows is model/access/module.ts; a run without a module is not limited.
 */
import type { EngineContext } from '#engine/core/engine-context.ts'
import { isOwn } from '#manifest/define/builtin-functions.ts'
import type { FunctionDefinition } from '#manifest/define/system.ts'
import { type Capability, type Module, requireCapability } from '#model/access/module.ts'
import { CALLS_OUTSIDE, requireListed } from '#model/access/outbound.ts'
import { keepsHealth } from '#model/flow/policies/endpoint-health.ts'
import { TrihandError } from '#model/kernel/errors.ts'
import type { Operation, WorkflowSpec } from '#model/workflow/spec.ts'
import type { TaskRequest } from '#ports/step-port.ts'

const EMITS: Capability = { kind: 'operation', name: 'emit_event' }
const WRITES: Capability = { kind: 'operation', name: 'db_write' }

/** Returns the current definition: if its lists were narrowed, runs that are already at work are bound by them, too. */
export const definitionOf = (context: Pick<EngineContext, 'system'>, handler: string): FunctionDefinition | undefined =>
  context.system().functions.get(handler)

const requireOperation = (definition: FunctionDefinition | undefined, operation: Operation): void => {
  if (definition !== undefined) requireListed(definition, operation)
}

const declares = ({ emits, routing }: WorkflowSpec, type: string): boolean => {
  const routes = routing === null ? [] : [...routing.routes.values(), routing.otherwise]
  return emits === null || emits.some(({ event }) => event === type) || routes.some((route) => route?.emit === type)
}

export const requireEvent = (definition: FunctionDefinition | undefined, type: string, isDelayed: boolean): void => {
  requireCapability(definition?.module ?? null, EMITS, { kind: 'event', name: type })
  requireOperation(definition, 'emit_event')
  if (isDelayed) requireOperation(definition, 'schedule')
  if (definition !== undefined && !declares(definition.workflow, type))
    throw new TrihandError('EMIT_NOT_DECLARED', `${definition.name} sends ${type}, which is not listed under its emits`)
}

export const requireTable = (definition: FunctionDefinition | undefined, table: string): void => {
  const name = definition?.name ?? ''
  // An approval that code could write would not be a person's approval.
  if (isOwn(table) && !isOwn(name) && !keepsHealth(name, table))
    throw new TrihandError('OPERATION_NOT_ALLOWED', `${table} is reserved for the system; choose another table`)
  requireCapability(definition?.module ?? null, WRITES, { kind: 'write', name: table })
  requireOperation(definition, 'db_write')
}

/** Calls to functions of the same module, and to functions without a module, are always allowed. */
export const requireCall = (module: Module | null, callee: FunctionDefinition): void => {
  if (callee.module !== null && callee.module.name !== module?.name)
    requireCapability(module, { kind: 'module', name: callee.module.name })
}

/** Performed in this process from the task's own input. All other types call an external service. */
const LOCAL_TYPES: ReadonlySet<string> = new Set(['template_engine', 'document_processor', 'classifier'])

/** A local type whose input names a model (a classifier) calls outside, too. */
export const requireTask = (definition: FunctionDefinition | undefined, { executorType, task }: TaskRequest): void => {
  const asksModel = typeof task.input === 'object' && task.input !== null && 'model' in task.input
  if (LOCAL_TYPES.has(executorType) && !asksModel) return
  requireCapability(definition?.module ?? null, CALLS_OUTSIDE)
  requireOperation(definition, 'api_call')
}
