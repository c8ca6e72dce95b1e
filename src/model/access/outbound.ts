/**
 * Which hosts the code of a function may call.
 *
 * Owns the match of an address against the function's module and its own list of operations. The request itself is made by an adapter
 * (adapters/tools/guarded-fetch.ts).
 */
import { TrihandError } from '#model/kernel/errors.ts'
import type { Operation, WorkflowSpec } from '#model/workflow/spec.ts'
import { type Capability, type Module, requireCapability } from './module.ts'

/** The limits on the code of a function. */
export interface CodeLimits {
  readonly name: string
  readonly module: Module | null
  readonly workflow: Pick<WorkflowSpec, 'operations'>
}

export const CALLS_OUTSIDE: Capability = { kind: 'operation', name: 'api_call' }

/** A function that declares its operations may use no other. */
export const requireListed = ({ name, workflow: { operations } }: CodeLimits, operation: Operation): void => {
  if (operations === null || operations.has(operation)) return
  const list = [...operations].join(', ')
  throw new TrihandError('OPERATION_NOT_ALLOWED', `${name} may not ${operation}; it declares ${list || 'nothing'}`)
}

/** `host`: in lower case, without a trailing dot. */
export const requireHost = (limits: CodeLimits, host: string): void => {
  requireListed(limits, 'api_call')
  requireCapability(limits.module, CALLS_OUTSIDE, { kind: 'host', name: host })
}

/** Like `requireHost`, for a whole address. An address that cannot be parsed is left to the fetch, which refuses it. */
export const requireAddress = (limits: CodeLimits, address: string): void => {
  if (URL.canParse(address)) requireHost(limits, new URL(address).hostname.replace(/\.$/, '').toLowerCase())
}
