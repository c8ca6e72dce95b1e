/** Modules as a manifest writes them: which one a handler belongs to, and how strictly its lists bind the code. */
import type { AddFinding } from '#manifest/yaml/finding.ts'
import { field, type HandlerEntry, type Manifest, type NamedEntry } from '#manifest/yaml/manifest.ts'
import { listed } from '#manifest/yaml/record.ts'

export const moduleOf = (manifest: Manifest, handler: HandlerEntry): NamedEntry | undefined =>
  (manifest.modules ?? []).find(
    (module) => module.name === field(handler, 'module') || listed(field(module, 'functions')).includes(handler.name),
  )

/** The folder of a module whose functions run in processes of their own; null: they run in the process of the host. */
export const isolatedFolder = (module: NamedEntry | undefined): string | null => {
  if (module === undefined || field(module, 'isolation') !== 'process') return null
  const folder = field(module, 'folder')
  return typeof folder === 'string' ? folder.replace(/^\.\//, '').replace(/\/+$/, '') : `modules/${module.name}`
}

export const lintModules = (manifest: Manifest, tell: AddFinding): void => {
  const withCode = new Set((manifest.functions ?? []).map((handler) => moduleOf(manifest, handler)?.name))
  for (const module of manifest.modules ?? []) {
    if (!withCode.has(module.name) || isolatedFolder(module) !== null) continue
    const message = `the functions of ${module.name} run in the host process: the module restricts their steps and their fetch, but not sockets, files and processes`
    tell({ level: 'info', code: 'LINT_NOT_ISOLATED', message, path: ['modules', module.name], on: 'key' })
  }
}
