/**
 * Stubs for files that a manifest names or implies and that do not exist: code of functions, prompts and simulated
 * answers of agents, schemas.
 *
 * Owns the text of a stub. A stub type-checks and runs: a function returns made-up data of its declared shape. Writes nothing itself.
 */
import { declarationsOf } from '#manifest/define/declarations.ts'
import { codeFiles, promptFiles } from '#manifest/lint/files.ts'
import { escapes } from '#manifest/lint/folder.ts'
import { schemaFiles, schemaReferences } from '#manifest/lint/schema-files.ts'
import { outputSchemaOf } from '#manifest/lint/schemas.ts'
import { sampleOf, seeded } from '#manifest/simulate/sample.ts'
import { eventSchema } from '#manifest/simulate/script.ts'
import { field, type HandlerEntry, type Manifest, startingTypes } from '#manifest/yaml/manifest.ts'
import { isRecord, listed, recordsIn } from '#manifest/yaml/record.ts'
import type { Json } from '#model/kernel/json.ts'

export interface Stub {
  readonly path: string
  readonly text: string
}

const TYPES = 'trihand.d.ts'
const SEED = 1

const plain = (given: string): string => given.replace(/^\.\//, '')
const words = (text: Json | undefined): string =>
  String(text ?? '')
    .replaceAll('*/', '* /')
    .replace(/\s+/g, ' ')
    .trim()

const upTo = (path: string, target: string): string => `${'../'.repeat(path.split('/').length - 1) || './'}${target}`

/** The one event without a condition: it is sent without any code. */
const sentAlone = (handler: HandlerEntry): string | null => {
  const [only, ...others] = (handler.emits ?? []).filter(({ on, when }) => on === 'success' && when === undefined)
  return only !== undefined && others.length === 0 ? only.event : null
}

const answerOf = (handler: HandlerEntry, manifest: Manifest): Json => {
  const declared = outputSchemaOf(handler)
  const event = sentAlone(handler)
  if (isRecord(declared)) return sampleOf(declared, seeded(SEED))
  return event === null ? null : sampleOf(eventSchema(manifest, event), seeded(SEED))
}

const remarksOf = (handler: HandlerEntry): readonly string[] => [
  ...listed(field(handler, 'actions')).map((action) => words(isRecord(action) ? action['name'] : action)),
  ...recordsIn(field(handler, 'steps')).map(({ name, action, on_failure: failing }) =>
    [
      words(name),
      action === undefined ? '' : `: ${words(action)}`,
      failing === undefined ? '' : ` (if it fails: ${words(failing)})`,
    ].join(''),
  ),
  ...(handler.emits ?? []).map(
    ({ event, when }) => `emits ${event}${when === undefined ? '' : ` when ${words(when)}`}`,
  ),
]

const functionText = (handler: HandlerEntry, manifest: Manifest, path: string, exported: string): string => {
  const heard = startingTypes(handler, manifest)
  const about = words(field(handler, 'description')) || `Started by ${heard.length === 0 ? 'name' : heard.join(', ')}`
  const remarks = remarksOf(handler).map((remark) => `  // ${remark}`)
  const name = JSON.stringify(handler.name)
  const isTyped = path.endsWith('.ts')
  const annotation = isTyped ? `: FunctionContext<Handlers[${name}]['input']>` : ''
  const output = isTyped ? `: Promise<Handlers[${name}]['output']>` : ''
  const body = `async ({ input: _input }${annotation})${output} => {
${remarks.length === 0 ? '' : `${remarks.join('\n')}\n`}  return ${JSON.stringify(answerOf(handler, manifest))}
}
`
  const imports = isTyped
    ? `import type { FunctionContext } from 'trihand'\nimport type { Handlers } from '${upTo(path, TYPES)}'\n\n`
    : ''
  const head = exported === 'default' ? 'export default' : `export const ${exported} =`
  return `/** ${about}. Written by \`trihand manifest stubs\`: it does nothing yet. */\n${imports}${head} ${body}`
}

const functionStubs = (manifest: Manifest, paths: ReadonlySet<string>): readonly Stub[] =>
  (manifest.functions ?? []).flatMap((handler) => {
    const given = field(handler, 'handler')
    const isBuiltIn = field(handler, 'routing') !== undefined || field(handler, 'fan_in') !== undefined
    if (given === undefined && isBuiltIn) return []
    const [file, exported = 'default'] = typeof given === 'string' ? plain(given).split('#') : []
    const candidates = file === undefined ? codeFiles(handler.name) : [file, `functions/${file}`]
    const [path = ''] = candidates
    if (candidates.some((one) => paths.has(one)) || escapes(path)) return []
    return [{ path, text: functionText(handler, manifest, path, exported) }]
  })

const promptText = (handler: HandlerEntry, manifest: Manifest): string => {
  const heard = startingTypes(handler, manifest)
  const schema = outputSchemaOf(handler)
  const fields = Object.keys(isRecord(schema) && isRecord(schema['properties']) ? schema['properties'] : {})
  const answer = fields.length === 0 ? 'Answer with text.' : `Answer with ${fields.join(', ')}.`
  const starts = heard.length === 0 ? 'You are called by name.' : `You are given the data of ${heard.join(' or ')}.`
  return `# ${handler.name}\n\n${words(field(handler, 'description'))}\n\n${starts}\n${answer}\n`.replace(
    /\n{3,}/g,
    '\n\n',
  )
}

const promptStubs = (manifest: Manifest, paths: ReadonlySet<string>): readonly Stub[] =>
  (manifest.agents ?? []).flatMap((handler) => {
    const given = field(handler, 'prompt')
    if (typeof given !== 'string' && field(handler, 'instructions') !== undefined) return []
    const candidates = typeof given === 'string' ? [plain(given), `agents/${plain(given)}`] : promptFiles(handler.name)
    const [path = ''] = candidates
    if (candidates.some((one) => paths.has(one)) || escapes(path)) return []
    return [{ path, text: promptText(handler, manifest) }]
  })

/** The simulated model's answer: without it an agent has no answer until a key is set. JSON is also YAML. */
const scriptText = (handler: HandlerEntry): string => {
  const schema = outputSchemaOf(handler)
  const declared = isRecord(schema) ? sampleOf(schema, seeded(SEED)) : {}
  const answer = schema === undefined || schema === null ? { say: 'Done.' } : { json: declared }
  return `# What the simulated model answers; a model with a key does not read it.\nagent: ${handler.name}\nanswers:\n  - ${JSON.stringify(answer)}\n`
}

const scriptStubs = (manifest: Manifest, paths: ReadonlySet<string>): readonly Stub[] =>
  (manifest.agents ?? []).flatMap((handler) => {
    const [path = '', other = ''] = ['yaml', 'yml'].map((ending) => `scripts/${handler.name}.${ending}`)
    return paths.has(path) || paths.has(other) ? [] : [{ path, text: scriptText(handler) }]
  })

const SCHEMA = `{
  '~standard': {
    version: 1 as const,
    vendor: 'stub',
    validate: (value: unknown) => ({ value }),
    jsonSchema: { input: () => ({ type: 'object' }), output: () => ({ type: 'object' }) },
  },
}
`

const schemaStub = (reference: string): Stub => {
  const [file = '', name = 'default'] = plain(reference).split('#')
  const isCode = /\.(ts|js|mjs)$/.test(file)
  const path = /\.(ts|js|mjs|json)$/.test(file) ? file : `schemas/${file}.json`
  if (!isCode) return { path, text: `${JSON.stringify({ type: 'object', properties: {} }, null, 2)}\n` }
  const about = `/** Takes anything. Written by \`trihand manifest stubs\`. */\n`
  const head = name === 'default' ? 'export default' : `export const ${name} =`
  return {
    path,
    text: `${about}${head} ${path.endsWith('.ts') ? SCHEMA : SCHEMA.replaceAll(/ as const|: unknown/g, '')}`,
  }
}

const schemaStubs = (manifest: Manifest, paths: ReadonlySet<string>, isExported: (name: string) => boolean) =>
  schemaReferences(manifest).flatMap(({ reference }): readonly Stub[] => {
    const [file = ''] = plain(reference).split('#')
    const isThere = schemaFiles(file).some((one) => paths.has(one)) || isExported(file)
    return isThere || escapes(file) ? [] : [schemaStub(reference)]
  })

/** By path, each once; existing files get no stub. `isExported`: true if a file of `schemas/` exports the name. */
export const stubsOf = (
  manifest: Manifest,
  paths: readonly string[],
  isExported: (name: string) => boolean,
): readonly Stub[] => {
  const there = new Set(paths)
  const code = functionStubs(manifest, there)
  const types = code.some(({ path }) => path.endsWith('.ts')) && !there.has(TYPES)
  const all = [
    ...code,
    ...promptStubs(manifest, there),
    ...scriptStubs(manifest, there),
    ...schemaStubs(manifest, there, isExported),
    ...(types ? [{ path: TYPES, text: declarationsOf(manifest) }] : []),
  ]
  return [...new Map(all.map((stub) => [stub.path, stub])).values()]
}
