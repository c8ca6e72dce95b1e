/**
 * Schemas that a manifest refers to by name instead of writing them inline: the place of each name, and the files that may contain it.
 *
 * Owns the convention: a path, a file of `schemas/`, or an export of one. Loads nothing; the exports of a file are found in its text.
 */
import type { AddFinding, Path } from '#manifest/yaml/finding.ts'
import { field, handlersOf, type Manifest } from '#manifest/yaml/manifest.ts'
import { isRecord, recordsIn } from '#manifest/yaml/record.ts'
import type { Json } from '#model/kernel/json.ts'
import { escapes, type Folder } from './folder.ts'

interface SchemaReference {
  readonly reference: string
  readonly path: Path
}

const ENDINGS = ['', '.json', '.ts', '.js', '.mjs']
const CODE = /^schemas\/.*\.(ts|js|mjs)$/

/** Paths that a reference may mean; the first that exists counts. */
export const schemaFiles = (file: string): readonly string[] =>
  ['', 'schemas/'].flatMap((folder) => ENDINGS.map((ending) => `${folder}${file}${ending}`))

const inHandler = (handler: object): readonly (readonly [Json | undefined, Path])[] => {
  const contract = field(handler, 'contract')
  const bundle = field(handler, 'bundle')
  return [
    ...['input', 'output', 'schema', 'output_schema'].map((key) => [field(handler, key), [key]] as const),
    [isRecord(contract) ? contract['output_schema'] : undefined, ['contract', 'output_schema']],
    ...recordsIn(isRecord(bundle) ? bundle['sections'] : undefined).map(
      ({ id, schema }) => [schema, ['bundle', 'sections', String(id), 'schema']] as const,
    ),
    ...recordsIn(field(handler, 'actions')).map(
      ({ name, event_payload_schema: schema }) => [schema, ['actions', String(name), 'event_payload_schema']] as const,
    ),
  ]
}

/** Every schema that is referred to by a text, with the place of the text. */
export const schemaReferences = (manifest: Manifest): readonly SchemaReference[] => {
  const given: readonly (readonly [Json | undefined, Path])[] = [
    ...manifest.events.definitions.map(
      ({ name, schema }) => [schema, ['events', 'definitions', name, 'schema']] as const,
    ),
    ...handlersOf(manifest).flatMap(({ section, handler }) =>
      inHandler(handler).map(([value, path]) => [value, [section, handler.name, ...path]] as const),
    ),
  ]
  return given.flatMap(([reference, path]) => (typeof reference === 'string' ? [{ reference, path }] : []))
}

/** True if the text of a module may export a name. A module that re-exports all of another may export any. */
const mayExport = (text: string, name: string): boolean => {
  const word = name.replace(/[^\w$]/g, '').replaceAll('$', '\\$')
  return (
    /\bexport\s*\*/.test(text) ||
    new RegExp(String.raw`\bexport\s+(?:declare\s+)?(?:const|let|var|class|function)\s+${word}(?![\w$])`).test(text) ||
    [...text.matchAll(/\bexport\s*(?:const\s*)?\{([^}]*)\}/g)].some(([, list = '']) =>
      list.split(',').some(
        (one) =>
          one
            .trim()
            .split(/\s+as\s+|\s*:\s*/)
            .at(-1)
            ?.trim() === name,
      ),
    ) ||
    new RegExp(String.raw`\bexports\.${word}\s*=`).test(text)
  )
}

/** True if a file of `schemas/` exports a name. */
export const isExportedIn = (name: string, { paths, read }: Folder): boolean =>
  paths.filter((one) => CODE.test(one)).some((one) => mayExport(read(one), name))

const problemOf = (reference: string, folder: Folder): string | null => {
  const { paths, read } = folder
  const [file = '', name] = reference.replace(/^\.\//, '').split('#')
  const path = schemaFiles(file).find((one) => paths.includes(one))
  if (path === undefined) {
    return isExportedIn(file, folder) ? null : `the schema ${reference} was not found in any file`
  }
  const isThere = name === undefined || path.endsWith('.json') || name === 'default' || mayExport(read(path), name)
  return isThere ? null : `${path} exports no ${name}`
}

export const lintSchemaFiles = (manifest: Manifest, folder: Folder, tell: AddFinding): void => {
  for (const { reference, path } of schemaReferences(manifest)) {
    if (escapes(reference)) {
      tell({ level: 'error', code: 'PATH_ESCAPE', message: `${reference} is outside the folder of the manifest`, path })
      continue
    }
    const message = problemOf(reference, folder)
    if (message !== null) tell({ level: 'warning', code: 'LINT_FILE_MISSING', message, path })
  }
}
