/**
 * Brings every expression of a manifest to its explicit form and compiles it once, so that a mistake is reported with its line and column.
 *
 * Owns which roots an expression may use where, and which root a bare name belongs to. Never evaluates one.
 */
import { compileRule, EMIT_ROOTS } from '#manifest/expressions/rules.ts'
import type { AddFinding, Path } from '#manifest/yaml/finding.ts'
import {
  EXECUTOR_SECTIONS,
  type ExecutorSection,
  type HandlerEntry,
  type Manifest,
  startingTypes,
} from '#manifest/yaml/manifest.ts'
import { celText, ROOTS, rootNames } from '#manifest/yaml/parse/expression.ts'
import { isRecord, recordsIn } from '#manifest/yaml/record.ts'
import { TrihandError } from '#model/kernel/errors.ts'
import type { Json } from '#model/kernel/json.ts'
import { mapRules } from './each-rule.ts'
import { MANIFEST } from './sections.ts'
import { any, type Shape } from './shape.ts'

/** Keys whose expressions may use all roots, by the last part of the path; other expressions see only what a trigger knows. */
const WIDE: ReadonlySet<string> = new Set(['when', 'route_on', 'each', 'correlation_key', 'match', 'score', 'validate'])
const WATCHING = ['runs', 'queue', 'table', 'session']
const JUDGING = ['agent', 'output', 'payload']
const YIELDING = ['output', 'result']
const STARTING = ['event', 'payload', 'trigger', 'run']
const WORD = /^[A-Za-z_]\w*$/

const rootsAt = (path: Path): readonly string[] => {
  const last = String(path.at(-1))
  if (path.includes('escalation_rules')) return JUDGING
  if (path.includes('emits')) return EMIT_ROOTS
  if (last === 'condition') return WATCHING
  if (last === 'yield') return YIELDING
  return WIDE.has(last) || path.includes('cancel_on') || path.includes('session_pools') ? ROOTS : STARTING
}

const fieldsOf = (schema: unknown): readonly string[] => {
  if (!isRecord(schema)) return []
  return Object.keys(isRecord(schema['properties']) ? schema['properties'] : schema)
}

const payloadFields = (handler: HandlerEntry, manifest: Manifest): readonly string[] => {
  const heard = new Set(startingTypes(handler, manifest))
  return manifest.events.definitions.filter(({ name }) => heard.has(name)).flatMap(({ payload }) => fieldsOf(payload))
}

const outputFields = (handler: HandlerEntry): readonly string[] => {
  const contract = handler['contract']
  const schema = isRecord(contract) ? contract['output_schema'] : handler['output_schema']
  return isRecord(schema) ? fieldsOf(schema['properties']) : []
}

const tellShadowed = (text: string, path: Path, fields: readonly string[], tell: AddFinding): void => {
  for (const name of rootNames(text).filter((root) => fields.includes(root))) {
    const message = `${name} is both a root of expressions and a field of the payload; the root is used. For the field, write payload.${name}`
    tell({ level: 'warning', code: 'LINT_NAME_SHADOWED', message, path })
  }
}

/** The additional names in rules of a plan's steps: its steps, and the item of a list. They take precedence over fields of the payload. */
const planNames = (handler: HandlerEntry): readonly string[] => {
  const named = recordsIn(handler['steps'] as Json | undefined).flatMap(({ id, as = 'item' }) => [id, as])
  return [...new Set(named.filter((one): one is string => typeof one === 'string' && WORD.test(one) && !(one in {})))]
}

/** Replaces a refused rule, so that it is refused only once. */
const REFUSED = 'true'

/** Returns the rule if it compiles. A position is only reported for a text that is unchanged from the source. */
const compiled = (
  text: string,
  path: Path,
  tell: AddFinding,
  { own = [] as readonly string[], isAsWritten = true } = {},
): string => {
  try {
    compileRule(text, path.includes('steps') ? [...new Set([...rootsAt(path), ...own])] : rootsAt(path))
    return text
  } catch (error) {
    if (!(error instanceof TrihandError)) throw error
    tell({
      level: 'error',
      code: error.code,
      message: error.detail,
      path,
      offset: isAsWritten ? (error.place?.column ?? 1) - 1 : 0,
    })
    return REFUSED
  }
}

const handlerRules = (
  section: ExecutorSection,
  handler: HandlerEntry,
  manifest: Manifest,
  tell: AddFinding,
): HandlerEntry => {
  const fields = payloadFields(handler, manifest)
  const shape = MANIFEST.fields[section] as { readonly of: Shape }
  const own = section === 'plans' ? planNames(handler) : []
  const ofPayload = new Map(fields.filter((name) => !own.includes(name)).map((name) => [name, 'payload']))
  const ofOutput = new Map([...ofPayload, ...outputFields(handler).map((name) => [name, 'output'] as const)])
  return mapRules(shape.of, handler as Json, [section, handler.name], (text, path) => {
    const explicit = celText(text, path.includes('emits') ? ofOutput : ofPayload)
    tellShadowed(text, path, fields, tell)
    return compiled(explicit, path, tell, { own, isAsWritten: explicit === text })
  }) as unknown as HandlerEntry
}

export const withRules = (manifest: Manifest, tell: AddFinding): Manifest => {
  const hands = EXECUTOR_SECTIONS.flatMap((section) => {
    const handlers = manifest[section]
    if (handlers === undefined) return []
    return [[section, handlers.map((handler) => handlerRules(section, handler, manifest, tell))] as const]
  })
  const rest = Object.keys(manifest).filter((key) => !EXECUTOR_SECTIONS.includes(key as ExecutorSection))
  const others = rest.map((section) => {
    const shape = MANIFEST.fields[section] ?? any
    const value = mapRules(shape, manifest[section] as Json, [section], (text, path) => compiled(text, path, tell))
    return [section, value] as const
  })
  return Object.fromEntries([...others, ...hands]) as unknown as Manifest
}
