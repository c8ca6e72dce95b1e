/**
 * All sources of a running system: made from its definition, started after the engine, stopped before it.
 *
 * Owns which class implements each kind of source, and the change from one definition to the next. Does not know what a source watches.
 */
import type { SourceDefinition } from '#manifest/define/sources.ts'
import type { System } from '#manifest/define/system.ts'
import type { Environment } from '#manifest/expressions/reference.ts'
import type { ConditionDeps } from './condition.ts'
import type { FileDeps } from './file.ts'
import type { Source } from './source.ts'
import type { TableDeps } from './table.ts'

export type HostDeps = ConditionDeps & FileDeps & TableDeps

/** The environment in which references of a definition are resolved. */
export const ownEnvironment = (): Environment => process.env

/** Reports an error that a source survives to stderr, where an operator looks. */
export const reportToStderr =
  (redact: (text: string) => string) =>
  (source: string, error: unknown): void => {
    process.stderr.write(`${source}: ${redact(error instanceof Error ? error.message : String(error))}\n`)
  }

export const ownFolder = (): string => process.cwd()

export const ownPid = (): number => process.pid

/** Each class is loaded when something of its kind is watched: most systems watch nothing. */
const create = async (definition: SourceDefinition, deps: HostDeps): Promise<Source> => {
  switch (definition.kind) {
    case 'signal':
      return new (await import('./signal.ts')).SignalSource(definition, deps)
    case 'file':
      return new (await import('./file.ts')).FileSource(definition, deps)
    case 'table':
      return new (await import('./table.ts')).TableSource(definition, deps)
    case 'condition':
      return new (await import('./condition.ts')).ConditionSource(definition, deps)
  }
}

export class SourceHost {
  readonly #deps: HostDeps
  readonly #running = new Map<string, Source>()
  /** Changes of the definition run one after the other. */
  #last: Promise<void> = Promise.resolve()

  constructor(deps: HostDeps) {
    this.#deps = deps
  }

  /** Stops sources that are no longer named, starts new ones, and leaves the others running. Throws if a source cannot start. */
  follow({ sources }: Pick<System, 'sources'>): Promise<void> {
    const next = this.#last.then(() => this.#change(sources))
    this.#last = next.catch(() => {})
    return next
  }

  stop(): Promise<void> {
    return this.follow({ sources: new Map() })
  }

  async #change(sources: System['sources']): Promise<void> {
    for (const [name, source] of [...this.#running]) {
      if (sources.has(name)) continue
      this.#running.delete(name)
      await source.stop()
    }
    for (const definition of sources.values()) {
      if (this.#running.has(definition.name)) continue
      const source = await create(definition, this.#deps)
      await source.start()
      this.#running.set(definition.name, source)
    }
  }
}
