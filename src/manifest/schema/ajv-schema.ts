/**
 * JSON Schema 2020-12 behind the interface of all schemas: data that is checked by ajv, and that can be displayed.
 *
 * Owns the settings of ajv and the formats it knows. It is loaded and compiles with the first value that is checked: most processes
 * check none, and a system of eighty events would pay for all of them.
 */
import { createRequire } from 'node:module'
import type { StandardJSONSchemaV1, StandardSchemaV1 } from '@standard-schema/spec'
import type { Ajv2020, ErrorObject, ValidateFunction } from 'ajv/dist/2020.js'
import { invalid } from '#manifest/define/invalid.ts'
import type { Json } from '#model/kernel/json.ts'

export interface JsonSchema {
  readonly '~standard': StandardSchemaV1.Props & StandardJSONSchemaV1.Props
}

const FORMATS: Readonly<Record<string, RegExp>> = {
  uuid: /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i,
  'date-time': /^\d{4}-\d{2}-\d{2}[Tt]\d{2}:\d{2}:\d{2}(\.\d+)?([Zz]|[+-]\d{2}:\d{2})$/,
  date: /^\d{4}-\d{2}-\d{2}$/,
  email: /^[^\s@]{1,64}@[^\s@]{1,255}$/,
  uri: /^[a-z][a-z0-9+.-]*:\S+$/i,
}

let shared: Ajv2020 | null = null

/** One instance for all: compiling its own meta-schema is most of its cost. */
const checker = (): Ajv2020 => {
  if (shared !== null) return shared
  const { Ajv2020: Checker } = createRequire(import.meta.url)('ajv/dist/2020.js') as typeof import('ajv/dist/2020.js')
  shared = new Checker({ strict: false, allErrors: true, addUsedSchema: false, logger: false })
  for (const [name, pattern] of Object.entries(FORMATS)) shared.addFormat(name, pattern)
  return shared
}

const unescaped = (part: string): string => part.replaceAll('~1', '/').replaceAll('~0', '~')

const issueOf = ({ instancePath, message, params }: ErrorObject): StandardSchemaV1.Issue => {
  const allowed = (params as { readonly allowedValues?: unknown }).allowedValues
  return {
    message: `${message ?? 'does not fit'}${allowed === undefined ? '' : `: ${JSON.stringify(allowed)}`}`,
    path: instancePath.split('/').slice(1).map(unescaped),
  }
}

const compile = (document: Json): ValidateFunction =>
  checker().compile((typeof document === 'boolean' ? document : { ...(document as object) }) as object)

export const jsonSchema = (document: Json): JsonSchema => {
  let compiled: ValidateFunction | null = null
  const shown = (): Record<string, unknown> => document as Record<string, unknown>
  return {
    '~standard': {
      version: 1,
      vendor: 'trihand',
      validate: (value) => {
        compiled ??= compile(document)
        return compiled(value) ? { value } : { issues: (compiled.errors ?? []).map(issueOf) }
      },
      jsonSchema: { input: shown, output: shown },
    },
  }
}

/** Throws if the document is not a valid JSON Schema. Costs as much as a first check. */
export const checkJsonSchema = (document: Json, path: string): void => {
  if (typeof document !== 'boolean' && (document === null || typeof document !== 'object' || Array.isArray(document)))
    throw invalid(path, 'a JSON Schema must be an object')
  try {
    compile(document)
  } catch (error) {
    throw invalid(path, `it is not a JSON Schema: ${error instanceof Error ? error.message : String(error)}`, error)
  }
}
