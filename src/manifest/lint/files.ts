/**
 * Compares the files that a manifest names or implies with those that exist: code, prompts, templates, schemas.
 *
 * Owns the conventions of the folder; those of schemas are schema-files.ts. The list of files is passed in: nothing is executed.
 */
import { BUILT_IN } from '#manifest/define/executors.ts'
import type { AddFinding, Path } from '#manifest/yaml/finding.ts'
import { field, type HandlerEntry, type Manifest } from '#manifest/yaml/manifest.ts'
import { isRecord, recordsIn } from '#manifest/yaml/record.ts'
import { escapes, type Folder } from './folder.ts'
import { isolatedFolder, moduleOf } from './modules.ts'
import { lintSchemaFiles } from './schema-files.ts'

const CODE = ['ts', 'js', 'mjs']

class Files {
  readonly #paths: ReadonlySet<string>
  readonly #lower: ReadonlyMap<string, string>
  readonly #tell: AddFinding

  constructor({ paths }: Pick<Folder, 'paths'>, tell: AddFinding) {
    this.#paths = new Set(paths)
    this.#lower = new Map(paths.map((path) => [path.toLowerCase(), path]))
    this.#tell = tell
  }

  /** The first candidate that exists. A difference in case is an error: on other systems the file would not be found. */
  find(candidates: readonly string[], path: Path): string | null {
    for (const candidate of candidates) {
      if (this.#paths.has(candidate)) return candidate
      const other = this.#lower.get(candidate.toLowerCase())
      if (other === undefined) continue
      this.#tell({ level: 'error', code: 'FILE_NAME_CASE', message: `${candidate} is spelled ${other} on disk`, path })
      return other
    }
    return null
  }

  /** A path that the author wrote, also looked for in the folder for its kind. */
  named(given: string, folder: string | null, path: Path): void {
    if (given.includes('{{')) return
    if (escapes(given)) {
      this.#tell({
        level: 'error',
        code: 'PATH_ESCAPE',
        message: `${given} is outside the folder of the manifest`,
        path,
      })
      return
    }
    const plain = given.replace(/^\.\//, '')
    const candidates = folder === null ? [plain] : [plain, `${folder}/${plain}`]
    if (this.find(candidates, path) !== null || this.#isFolder(candidates)) return
    this.#tell({ level: 'warning', code: 'LINT_FILE_MISSING', message: `the file ${given} does not exist`, path })
  }

  #isFolder(candidates: readonly string[]): boolean {
    const starts = candidates.map((one) => `${one.replace(/\/+$/, '')}/`)
    return [...this.#paths].some((one) => starts.some((start) => one.startsWith(start)))
  }
}

/** Where the code of a function is that names no file. Isolated code is in the folder of its module. */
export const codeFiles = (name: string, folder = 'functions'): readonly string[] =>
  CODE.map((ending) => `${folder}/${name}.${ending}`)

export const executorFiles = (type: string): readonly string[] => CODE.map((ending) => `executors/${type}.${ending}`)

export const promptFiles = (name: string): readonly string[] => [`agents/${name}/CLAUDE.md`, `agents/${name}.md`]

const lintFunction = (handler: HandlerEntry, manifest: Manifest, files: Files, tell: AddFinding): void => {
  const path = ['functions', handler.name]
  const given = field(handler, 'handler')
  const folder = isolatedFolder(moduleOf(manifest, handler)) ?? 'functions'
  if (typeof given === 'string') return files.named(given.split('#')[0] ?? '', folder, [...path, 'handler'])
  const isBuiltIn = field(handler, 'routing') !== undefined || field(handler, 'fan_in') !== undefined
  if (isBuiltIn || files.find(codeFiles(handler.name, folder), path) !== null) return
  const message = `${handler.name} has no code yet; expected ${folder}/${handler.name}.ts`
  tell({ level: 'info', code: 'LINT_HANDLER_MISSING', message, path, on: 'key' })
}

const lintExecutors = (manifest: Manifest, files: Files, tell: AddFinding): void => {
  for (const { name, url, handler } of manifest.executors ?? []) {
    const path = ['executors', name]
    if (typeof handler === 'string') files.named(handler.split('#')[0] ?? '', null, [...path, 'handler'])
    else if (url === undefined && !BUILT_IN.has(name) && files.find(executorFiles(name), path) === null) {
      const message = `${name} has neither an address nor code; expected executors/${name}.ts`
      tell({ level: 'info', code: 'LINT_HANDLER_MISSING', message, path, on: 'key' })
    }
  }
}

const lintContext = (handler: HandlerEntry, files: Files): void => {
  const contract = field(handler, 'contract')
  const into = isRecord(contract) ? contract['context_in'] : undefined
  if (!isRecord(into)) return
  const path = ['agents', handler.name, 'contract', 'context_in']
  for (const [i, { template }] of recordsIn(into['from_db']).entries())
    if (typeof template === 'string') files.named(template, 'templates', [...path, 'from_db', i, 'template'])
  for (const [i, { source }] of recordsIn(into['static']).entries())
    if (typeof source === 'string') files.named(source, 'config', [...path, 'static', i, 'source'])
}

const lintAgent = (handler: HandlerEntry, files: Files, tell: AddFinding): void => {
  const path = ['agents', handler.name]
  const prompt = field(handler, 'prompt')
  if (typeof prompt === 'string') files.named(prompt, 'agents', [...path, 'prompt'])
  else if (field(handler, 'instructions') === undefined && files.find(promptFiles(handler.name), path) === null) {
    const message = `${handler.name} has no instructions; expected agents/${handler.name}/CLAUDE.md`
    tell({ level: 'warning', code: 'LINT_FILE_MISSING', message, path, on: 'key' })
  }
  lintContext(handler, files)
}

/** Reports code that belongs to no function of the manifest. */
const lintUnused = (manifest: Manifest, { paths }: Folder, tell: AddFinding): void => {
  const names = new Set((manifest.functions ?? []).map(({ name }) => name))
  const named = (manifest.functions ?? []).map((handler) => String(field(handler, 'handler') ?? '').split('#')[0])
  for (const path of paths) {
    const [, name] = /^functions\/([^/]+)\.(?:ts|js|mjs)$/.exec(path) ?? []
    if (name === undefined || /\.(test|d)$/.test(name) || names.has(name) || named.includes(path)) continue
    const message = `no function of the manifest uses ${path}`
    tell({ level: 'warning', code: 'LINT_UNUSED_FILE', message, path: ['functions'] })
  }
}

export const lintFiles = (manifest: Manifest, folder: Folder, tell: AddFinding): void => {
  const files = new Files(folder, tell)
  for (const handler of manifest.functions ?? []) lintFunction(handler, manifest, files, tell)
  for (const handler of manifest.agents ?? []) lintAgent(handler, files, tell)
  lintExecutors(manifest, files, tell)
  for (const { name, transform } of manifest.webhooks ?? [])
    if (typeof transform === 'string') files.named(transform.split('#')[0] ?? '', null, ['webhooks', name, 'transform'])
  lintSchemaFiles(manifest, folder, tell)
  lintUnused(manifest, folder, tell)
}
