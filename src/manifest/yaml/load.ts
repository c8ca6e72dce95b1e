/**
 * Loads the text of a manifest: parsed, brought to the long form, checked, defined, with all findings.
 *
 * Owns the order of the steps. Each continues with what the one before could use, so that all mistakes are reported at once, and
 * each mistake once. Executes nothing and reads no file.
 */
import { lint, type Surroundings } from '#manifest/lint/lint.ts'
import { check } from '#manifest/yaml/check/check.ts'
import { definitionRemarks } from '#manifest/yaml/check/definition.ts'
import { withRules } from '#manifest/yaml/check/rules-pass.ts'
import { MANIFEST } from '#manifest/yaml/check/sections.ts'
import { findUnused } from '#manifest/yaml/check/unused.ts'
import { normalise } from '#manifest/yaml/normalise/normal.ts'
import { parseYaml } from '#manifest/yaml/parse/document.ts'
import { payloadSchema } from '#manifest/yaml/parse/payload.ts'
import type { Places } from '#manifest/yaml/parse/places.ts'
import type { Json } from '#model/kernel/json.ts'
import { type Finding, hintOf, type Level, pathText, type Remark } from './finding.ts'
import { EXECUTOR_SECTIONS, type Manifest } from './manifest.ts'
import { checkNames, withGoodNames } from './names.ts'
import { isRecord, type JsonRecord } from './record.ts'
import { sourceOf } from './source.ts'

export interface LoadedManifest {
  /** Null: it has errors, and none of it takes effect. */
  readonly manifest: Manifest | null
  readonly findings: readonly Finding[]
}

const LEVELS: readonly Level[] = ['error', 'warning', 'info']

/** Codes that later steps would report again for what was refused already. */
const ONCE: ReadonlySet<string> = new Set(['MANIFEST_DUPLICATE_NAME', 'EVENT_RESERVED'])

/** Collects remarks, and returns findings with their places at the end. */
class Told {
  readonly #remarks: Remark[] = []
  /** The paths and codes of errors that earlier steps have found. */
  readonly #settled = new Set<string>()

  readonly tell = (remark: Remark): void => {
    if (!this.#isSettled(remark)) this.#remarks.push(remark)
  }

  /** The next steps do not report what has been refused so far. */
  settle(): void {
    for (const { level, code, path } of this.#remarks)
      if (level === 'error') {
        this.#settled.add(pathText(path))
        if (ONCE.has(code)) this.#settled.add(code)
      }
  }

  #isSettled({ code, path }: Remark): boolean {
    const around = path.map((_, i) => pathText(path.slice(0, i + 1)))
    return [...around, pathText([...path, 'name']), code].some((one) => this.#settled.has(one))
  }

  get hasErrors(): boolean {
    return this.#remarks.some(({ level }) => level === 'error')
  }

  findings(file: string, places: Places): readonly Finding[] {
    return this.#remarks
      .map(({ level, code, message, path, hint, on, offset }) => {
        const { line, column } = places.at(path, on, offset)
        return { level, code, message, file, line, column, path: pathText(path), hint: hint ?? hintOf(code) }
      })
      .sort((a, b) => LEVELS.indexOf(a.level) - LEVELS.indexOf(b.level) || a.line - b.line || a.column - b.column)
  }
}

const withVersion = (root: JsonRecord, places: Places): JsonRecord => {
  const { product } = root
  const version = isRecord(product) && product['version'] !== undefined ? places.sourceOf(['product', 'version']) : null
  return version === null ? root : { ...root, product: { ...(product as JsonRecord), version } }
}

const checkPayloads = (manifest: Manifest, told: Told): void => {
  for (const { name, payload, additional } of manifest.events.definitions)
    if (payload !== undefined && payload !== null)
      payloadSchema(payload, additional ?? true, ['events', 'definitions', name, 'payload'], told.tell)
}

/** Replaces the sections that every manifest has, if they were refused. */
const MISSING = { product: { name: 'unnamed' }, events: { definitions: [] } }

/** A handler whose triggers were refused is still checked for other mistakes. */
const whole = (handler: Json): Json => (isRecord(handler) ? { triggers: [], ...handler } : handler)

const shaped = (root: JsonRecord, places: Places, told: Told): Manifest => {
  const normal = normalise(withVersion(root, places), (from, to) => places.moved(from, to), told.tell)
  const { value, extra, remarks } = check(MANIFEST, normal)
  for (const remark of remarks) told.tell(remark)
  const sections = { ...MISSING, ...(value as JsonRecord) } as JsonRecord
  const hands = EXECUTOR_SECTIONS.flatMap((section) => {
    const handlers = sections[section]
    return Array.isArray(handlers) ? [[section, handlers.map(whole)] as const] : []
  })
  const kept = { ...(isRecord(sections['extra']) ? sections['extra'] : {}), ...extra }
  return {
    ...sections,
    ...Object.fromEntries(hands),
    ...(Object.keys(kept).length === 0 ? {} : { extra: kept }),
  } as unknown as Manifest
}

const judgedFurther = (outlined: Manifest, told: Told, surroundings: Surroundings): Manifest => {
  const manifest = withRules(outlined, told.tell)
  checkPayloads(manifest, told)
  checkNames(manifest, told.tell)
  told.settle()
  for (const remark of definitionRemarks(sourceOf(told.hasErrors ? withGoodNames(manifest) : manifest)))
    told.tell(remark)
  told.settle()
  findUnused(manifest, told.tell)
  lint(manifest, surroundings, told.tell)
  return manifest
}

const judged = (root: JsonRecord, places: Places, told: Told, surroundings: Surroundings): Manifest | null => {
  const outlined = shaped(root, places, told)
  told.settle()
  try {
    const manifest = judgedFurther(outlined, told, surroundings)
    return told.hasErrors ? null : manifest
  } catch (error) {
    // Parts that were refused may be missing: a step that fails because of them adds nothing to the findings.
    if (told.hasErrors) return null
    throw error
  }
}

const NOWHERE: Surroundings = { folder: null, environment: null }

export const loadManifest = (
  text: string,
  file = 'manifest.yaml',
  surroundings: Surroundings = NOWHERE,
): LoadedManifest => {
  const parsed = parseYaml(text)
  if (parsed.kind === 'refused')
    return {
      manifest: null,
      findings: parsed.remarks.map(({ level, code, message, position, hint }) => ({
        level,
        code,
        message,
        file,
        ...position,
        path: '',
        hint: hint ?? hintOf(code),
      })),
    }
  const told = new Told()
  const root: Json = parsed.value
  if (!isRecord(root)) {
    told.tell({ level: 'error', code: 'MANIFEST_INVALID', message: 'a manifest must be a map of sections', path: [] })
    return { manifest: null, findings: told.findings(file, parsed.places) }
  }
  const manifest = judged(root, parsed.places, told, surroundings)
  return { manifest, findings: told.findings(file, parsed.places) }
}
