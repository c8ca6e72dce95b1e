/**
 * Brings modules from what an author writes to the normal form: which functions belong together, and what they may do.
 *
 * Owns their spelling and every refusal at definition time. What a list allows is model/access/module.ts.
 */
import type { Allowlist, Isolation, Module } from '#model/access/module.ts'
import { TrihandError } from '#model/kernel/errors.ts'

export interface ModuleSource {
  readonly name: string
  readonly functions?: readonly string[]
  /** The tools that its agents may use, out of their own lists. Absent: all of those. */
  readonly tools?: readonly string[]
  /**
   * `process`: its functions run in processes of their own, which can access only what the module allows and the files of its folder.
   * Their code is given as a file of that folder (`codeFile`). Default: `none`, in the process of the host.
   */
  readonly isolation?: 'process' | 'none'
  /** The folder of isolated code, below the system's own. Default: `modules/<name>`. */
  readonly folder?: string
  /** Absent lists allow nothing. */
  readonly allow?: {
    readonly operations?: readonly string[]
    readonly hosts?: readonly string[]
    readonly tables?: { readonly read?: readonly string[]; readonly write?: readonly string[] }
    readonly events?: readonly string[]
    readonly secrets?: readonly string[]
    readonly modules?: readonly string[]
  }
}

export interface Modules {
  readonly byName: ReadonlyMap<string, Module>
  /** The module of a function, as listed by the module. */
  readonly byFunction: ReadonlyMap<string, Module>
}

const NAME = /^[a-z][a-z0-9_-]{0,63}$/
const OPERATIONS: ReadonlySet<string> = new Set(['transform', 'api_call', 'db_write', 'emit_event', 'schedule', '*'])

const invalid = (path: string, problem: string): TrihandError =>
  new TrihandError('MANIFEST_INVALID', `${path}: ${problem}`, { place: { path } })

const allowlistOf = (path: string, allow: ModuleSource['allow'] = {}): Allowlist => {
  const { operations = [], hosts = [], tables = {}, events = [], secrets = [], modules = [] } = allow
  const unknown = operations.find((operation) => !OPERATIONS.has(operation))
  if (unknown !== undefined)
    throw invalid(`${path}.allow.operations`, `"${unknown}" is not one of ${[...OPERATIONS].join(', ')}`)
  return {
    operations,
    hosts,
    tables: { read: tables.read ?? [], write: tables.write ?? [] },
    events,
    secrets,
    modules,
  }
}

/** A folder of its own below the system's: with access to the whole folder, the code could read the ledger and the secrets, too. */
const isolationOf = (path: string, { name, isolation = 'none', folder }: ModuleSource): Isolation | null => {
  if (isolation === 'none') {
    if (folder === undefined) return null
    throw invalid(`${path}.folder`, 'only a module with isolation: process can have a folder')
  }
  if (isolation !== 'process') throw invalid(`${path}.isolation`, `"${String(isolation)}" is not one of process, none`)
  const own = (folder ?? `modules/${name}`).replace(/^\.\//, '').replace(/\/+$/, '')
  if (own === '' || own === '.' || own.split(/[\\/]/).some((part) => part === '..' || part.startsWith('.')))
    throw invalid(
      `${path}.folder`,
      `"${folder}" is not a folder of its own; give a folder below the folder of the system`,
    )
  return { folder: own }
}

export const defineModules = (sources: readonly ModuleSource[]): Modules => {
  const byName = new Map<string, Module>()
  const byFunction = new Map<string, Module>()
  for (const source of sources) {
    const path = `modules.${source.name}`
    if (!NAME.test(source.name))
      throw invalid(path, 'a name must begin with a letter and have at most 64 of a-z 0-9 _ -')
    if (byName.has(source.name))
      throw new TrihandError('MANIFEST_DUPLICATE_NAME', `two modules are named ${source.name}`)
    const { tools } = source
    const isolation = isolationOf(path, source)
    const module = {
      name: source.name,
      allow: allowlistOf(path, source.allow),
      ...(tools === undefined ? {} : { tools }),
      ...(isolation === null ? {} : { isolation }),
    }
    byName.set(source.name, module)
    for (const name of source.functions ?? []) {
      const other = byFunction.get(name)
      if (other !== undefined) throw invalid(`${path}.functions`, `${name} is already in module ${other.name}`)
      byFunction.set(name, module)
    }
  }
  return { byName, byFunction }
}

/** The module of a function: named by the function or by the module's list; if both, they must agree. */
export const moduleOf = (modules: Modules, path: string, name: string, given: string | undefined): Module | null => {
  const listed = modules.byFunction.get(name) ?? null
  if (given === undefined) return listed
  const named = modules.byName.get(given)
  if (named === undefined) throw invalid(`${path}.module`, `there is no module ${given}`)
  if (listed !== null && listed !== named)
    throw invalid(`${path}.module`, `${name} names module ${given} but is listed by ${listed.name}`)
  return named
}
