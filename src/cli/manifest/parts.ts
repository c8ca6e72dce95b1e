/**
 * The files beside a manifest: code of functions, schemas, tools, executors, transforms, scripts. Found by convention, loaded when a system
 * runs.
 *
 * Owns the conventions of the folder: `functions/<name>.ts`, `schemas/<name>.ts|json`, `tools/<name>.ts`, `executors/<type>.ts`,
 * `scripts/<agent>.yaml`. The caller passes in how a module is loaded and how its errors are reported.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { ContractExecute } from '#executors/contract.ts'
import { type ExecutorOptions, executor } from '#executors/registry.ts'
import { codeFile } from '#manifest/define/code-file.ts'
import type { SystemSource } from '#manifest/define/define.ts'
import { codeFiles, executorFiles } from '#manifest/lint/files.ts'
import { isolatedFolder, moduleOf } from '#manifest/lint/modules.ts'
import { schemaFiles, schemaReferences } from '#manifest/lint/schema-files.ts'
import { jsonSchema } from '#manifest/schema/ajv-schema.ts'
import { isSchema } from '#manifest/schema/schema.ts'
import { pathText } from '#manifest/yaml/finding.ts'
import { field, type Manifest } from '#manifest/yaml/manifest.ts'
import { parseYaml } from '#manifest/yaml/parse/document.ts'
import type { Parts } from '#manifest/yaml/parts.ts'
import { TrihandError } from '#model/kernel/errors.ts'
import type { Json } from '#model/kernel/json.ts'

export type Exports = Readonly<Record<string, unknown>>

export interface Beside {
  readonly folder: string
  readonly paths: readonly string[]
  load(path: string): Promise<Exports>
}

const CODE = /\.(ts|js|mjs)$/

/** Returns the default export as it is; a compiler may have wrapped it twice. */
const defaultOf = (exports: Exports): unknown => exports['default']

const checkOwnName = (made: unknown, name: string, path: string): void => {
  const own = typeof made === 'object' && made !== null && 'name' in made ? made.name : name
  if (own !== name)
    throw new TrihandError('MANIFEST_DUPLICATE_NAME', `${path} is loaded as ${name} but declares ${String(own)}`, {
      place: { file: path },
    })
}

/** Only reads the file of an isolated module: loading it would run its top-level code in this process. */
const isolatedCode = (
  folder: string,
  name: string,
  given: Json | undefined,
  { folder: root, paths }: Beside,
): unknown => {
  const [file, exported = 'default'] = typeof given === 'string' ? given.replace(/^\.\//, '').split('#') : []
  const candidates = file === undefined ? codeFiles(name, folder) : [file, `${folder}/${file}`]
  const path = candidates.find((one) => paths.includes(one))
  if (path === undefined) return null
  if (path.startsWith(`${folder}/`))
    return codeFile(`${path.slice(folder.length + 1)}#${exported}`, readFileSync(join(root, path), 'utf8'))
  throw new TrihandError('PATH_ESCAPE', `${path} is outside ${folder}, the folder of its module`, {
    place: { file: path },
  })
}

const functionCode = async (manifest: Manifest, beside: Beside): Promise<ReadonlyMap<string, unknown>> => {
  const code = new Map<string, unknown>()
  for (const handler of manifest.functions ?? []) {
    const given = field(handler, 'handler')
    const own = isolatedFolder(moduleOf(manifest, handler))
    if (own !== null) {
      code.set(handler.name, isolatedCode(own, handler.name, given, beside))
      continue
    }
    const [file, name = 'default'] = typeof given === 'string' ? given.replace(/^\.\//, '').split('#') : []
    const candidates = file === undefined ? codeFiles(handler.name) : [file, `functions/${file}`]
    const path = candidates.find((one) => beside.paths.includes(one))
    if (path === undefined) continue
    const made = (await beside.load(path))[name]
    if (typeof made !== 'function' && (typeof made !== 'object' || made === null)) {
      const problem = `${path} exports no ${name === 'default' ? 'default function' : name}`
      throw new TrihandError('LOAD_FAILED', problem, { place: { file: path } })
    }
    checkOwnName(typeof made === 'function' ? undefined : made, handler.name, path)
    code.set(handler.name, made)
  }
  return code
}

const readJson = (folder: string, path: string): Json => {
  try {
    return JSON.parse(readFileSync(join(folder, path), 'utf8')) as Json
  } catch (error) {
    throw new TrihandError('LOAD_FAILED', `${path} is not JSON`, { place: { file: path }, cause: error })
  }
}

/** Returns the schema with the given name; without a name the default export, or the only schema. */
const schemaAmong = (exports: Exports, name: string | undefined, path: string): unknown => {
  if (name !== undefined) return isSchema(exports[name]) ? exports[name] : undefined
  if (isSchema(exports['default'])) return exports['default']
  const named = Object.keys(exports).filter((key) => isSchema(exports[key]))
  const [only] = named
  if (named.length === 1 && only !== undefined) return exports[only]
  const problem =
    named.length === 0
      ? `${path} exports no schema`
      : `${path} exports several schemas; name one, like ${path}#${only ?? ''} (${named.join(', ')})`
  throw new TrihandError('LOAD_FAILED', problem, { place: { file: path } })
}

const schemaAt = async (path: string, beside: Beside, name: string | undefined): Promise<unknown> =>
  path.endsWith('.json') ? jsonSchema(readJson(beside.folder, path)) : schemaAmong(await beside.load(path), name, path)

/** Finds a schema by path, by the file's name, or by the name of an export. */
const findSchema = async (reference: string, beside: Beside): Promise<unknown> => {
  const [file = '', name] = reference.replace(/^\.\//, '').split('#')
  const path = schemaFiles(file).find((one) => beside.paths.includes(one))
  if (path !== undefined) return schemaAt(path, beside, name)
  for (const other of beside.paths.filter((one) => one.startsWith('schemas/') && CODE.test(one))) {
    const made = await schemaAt(other, beside, reference)
    if (made !== undefined) return made
  }
  return undefined
}

const schemasOf = async (manifest: Manifest, beside: Beside): Promise<ReadonlyMap<string, unknown>> => {
  const schemas = new Map<string, unknown>()
  for (const { reference, path } of schemaReferences(manifest)) {
    if (schemas.has(reference)) continue
    const schema = await findSchema(reference, beside)
    if (schema === undefined)
      throw new TrihandError('LOAD_FAILED', `the schema ${reference} was not found in any file`, {
        place: { path: pathText(path) },
      })
    schemas.set(reference, schema)
  }
  return schemas
}

const transformsOf = async (manifest: Manifest, beside: Beside): Promise<ReadonlyMap<string, unknown>> => {
  const transforms = new Map<string, unknown>()
  for (const { name, transform } of manifest.webhooks ?? []) {
    if (typeof transform !== 'string') continue
    const [file = '', exported = 'default'] = transform.replace(/^\.\//, '').split('#')
    transforms.set(name, (await beside.load(file))[exported])
  }
  return transforms
}

/** Accepts `executor(type, …)`, an object with `execute`, or the function alone. */
const performerIn = (made: unknown, name: string, path: string): unknown => {
  if (typeof made === 'function') return executor(name, { execute: made as ContractExecute }).performer
  if (typeof made === 'object' && made !== null) {
    if ('performer' in made) {
      checkOwnName({ name: (made as { readonly type?: unknown }).type }, name, path)
      return made.performer
    }
    if ('execute' in made) return executor(name, made as ExecutorOptions).performer
  }
  throw new TrihandError('LOAD_FAILED', `${path} exports no executor`, { place: { file: path } })
}

const executorsOf = async (manifest: Manifest, beside: Beside): Promise<ReadonlyMap<string, unknown>> => {
  const executors = new Map<string, unknown>()
  for (const { name, url, handler } of manifest.executors ?? []) {
    if (url !== undefined) continue
    const [file, exported = 'default'] = typeof handler === 'string' ? handler.replace(/^\.\//, '').split('#') : []
    const path = (file === undefined ? executorFiles(name) : [file]).find((one) => beside.paths.includes(one))
    if (path === undefined) continue
    executors.set(name, performerIn((await beside.load(path))[exported], name, path))
  }
  return executors
}

const scriptsOf = (beside: Beside): Readonly<Record<string, Json>> => {
  const scripts: Record<string, Json> = {}
  for (const path of beside.paths) {
    const [, name] = /^scripts\/([^/]+)\.ya?ml$/.exec(path) ?? []
    if (name === undefined) continue
    const parsed = parseYaml(readFileSync(join(beside.folder, path), 'utf8'))
    if (parsed.kind === 'refused') {
      const [remark] = parsed.remarks
      throw new TrihandError('LOAD_FAILED', remark?.message ?? '', { place: { file: path, ...remark?.position } })
    }
    scripts[name] = parsed.value
  }
  return scripts
}

export const toolsBeside = async (beside: Beside): Promise<NonNullable<SystemSource['tools']>> => {
  const made: unknown[] = []
  for (const path of beside.paths) {
    const [, name] = /^tools\/([^/]+)\.(?:ts|js|mjs)$/.exec(path) ?? []
    if (name === undefined) continue
    const own = defaultOf(await beside.load(path))
    // A compiler may put the whole file into the default export if the file has none.
    if (typeof own !== 'object' || own === null || !('run' in own))
      throw new TrihandError('LOAD_FAILED', `${path} exports no default tool`, { place: { file: path } })
    checkOwnName(own, name, path)
    made.push(own)
  }
  return made as NonNullable<SystemSource['tools']>
}

export const partsOf = async (manifest: Manifest, beside: Beside): Promise<Parts> => ({
  code: await functionCode(manifest, beside),
  schemas: await schemasOf(manifest, beside),
  transforms: await transformsOf(manifest, beside),
  executors: await executorsOf(manifest, beside),
  scripts: scriptsOf(beside),
})
