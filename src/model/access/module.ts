/**
 * A module: a named set of functions and the list of what they may do. Anything that is not on the list is denied.
 *
 * Owns the match of a capability against an allowlist. Does not know the caller: the engine checks where the capability is used.
 *
 * module-1  Nothing is allowed unless it is named: an empty list allows nothing.
 */
import { TrihandError } from '#model/kernel/errors.ts'

export interface Module {
  readonly name: string
  readonly allow: Allowlist
  /** The tools that its agents may use. Absent: the module does not limit them. */
  readonly tools?: readonly string[]
  /** Its functions run in processes of their own. Absent: they run in the host's process. */
  readonly isolation?: Isolation
}

export interface Isolation {
  /** The folder of its files, as an absolute path once the folder of the system is known. */
  readonly folder: string
}

export interface Allowlist {
  readonly operations: readonly string[]
  readonly hosts: readonly string[]
  readonly tables: { readonly read: readonly string[]; readonly write: readonly string[] }
  readonly events: readonly string[]
  readonly secrets: readonly string[]
  readonly modules: readonly string[]
}

export type CapabilityKind = 'operation' | 'host' | 'read' | 'write' | 'event' | 'secret' | 'module'

/** One thing that code wants to do: emit this event, write this table, call this host. */
export interface Capability {
  readonly kind: CapabilityKind
  readonly name: string
}

const listFor = ({ allow }: Module, kind: CapabilityKind): readonly string[] => {
  switch (kind) {
    case 'operation':
      return allow.operations
    case 'host':
      return allow.hosts
    case 'read':
      return allow.tables.read
    case 'write':
      return allow.tables.write
    case 'event':
      return allow.events
    case 'secret':
      return allow.secrets
    case 'module':
      return allow.modules
  }
}

/** `*` at the end stands for any rest (`order.*`), at the beginning of a host for any subdomain (`*.example.org`). */
const matches = (pattern: string, name: string): boolean => {
  if (pattern === '*' || pattern === name) return true
  if (pattern.startsWith('*.')) return name.endsWith(pattern.slice(1)) && name.length > pattern.length - 1
  return pattern.endsWith('*') && name.startsWith(pattern.slice(0, -1))
}

export const permits = (module: Module, { kind, name }: Capability): boolean =>
  listFor(module, kind).some((pattern) => matches(pattern, name))

/** True if an agent of this module may use the tool. */
export const mayUse = (module: Module | null, tool: string): boolean =>
  module?.tools === undefined || module.tools.some((pattern) => matches(pattern, tool))

/** Code without a module is not limited by one. */
export const requireCapability = (module: Module | null, ...capabilities: readonly Capability[]): void => {
  const denied = module === null ? undefined : capabilities.find((capability) => !permits(module, capability))
  if (module !== null && denied !== undefined)
    throw new TrihandError('MODULE_DENIED', `module ${module.name} may not use ${denied.kind} ${denied.name}`)
}
