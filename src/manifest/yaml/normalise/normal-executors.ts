/**
 * Expands the short forms that are specific to one section: a function's config, an agent's workspace, a plan's steps, a webhook's path.
 *
 * Owns those rows of the normalisation. Total: it passes everything that it does not understand on to the check.
 */
import { defined, isRecord, type JsonRecord, listed } from '#manifest/yaml/record.ts'
import type { Json } from '#model/kernel/json.ts'
import { longRetry } from './normal-handler.ts'

const PATTERNS: Readonly<Record<string, string>> = { 'inngest-first-webhook': 'webhook', fan_in: 'fan-in' }
const STORES: Readonly<Record<string, string>> = { supabase_storage: 'blob' }
const MODALITIES: Readonly<Record<string, string>> = { automated: 'workflow', function: 'workflow' }

const renamed = (names: Readonly<Record<string, string>>, value: Json | undefined): Json | undefined =>
  typeof value === 'string' && Object.hasOwn(names, value) ? names[value] : value

/** Undefined if a record had only these keys; an empty record stays as it was written. */
const without = (value: Json | undefined, ...keys: readonly string[]): JsonRecord | undefined => {
  if (!isRecord(value)) return undefined
  const rest = Object.entries(value).filter(([key]) => !keys.includes(key))
  return rest.length === 0 && Object.keys(value).length > 0 ? undefined : Object.fromEntries(rest)
}

const mapped = (value: Json | undefined, change: (entry: JsonRecord) => JsonRecord): Json | undefined =>
  Array.isArray(value) ? value.map((entry) => (isRecord(entry) ? change(entry) : entry)) : value

/** `{field}` with one brace is a field of the payload. */
const fullBraces = (text: Json | undefined): Json | undefined =>
  typeof text === 'string' ? text.replace(/(?<!\{)\{([A-Za-z_]\w*)\}(?!\})/g, '{{payload.$1}}') : text

/** A step of a function, described in words for people. */
const proseStep = (given: Json, position: number): Json => {
  if (typeof given === 'string') return { name: given }
  if (!isRecord(given)) return given
  const { id, name = id ?? given['step'], action, step: _, ...rest } = given
  const words = name ?? (typeof action === 'string' ? slug(action).slice(0, 40) : `step-${position + 1}`)
  return defined({ name: words, action, ...rest, retry: longRetry(given) })
}

export const normalFunction = (given: JsonRecord): JsonRecord => {
  const { config, pattern, ...rest } = given
  const known = isRecord(config) ? config : {}
  return defined({
    ...rest,
    pattern: renamed(PATTERNS, pattern),
    timeout: given['timeout'] ?? known['timeout'],
    // Unknown keys of config stay where they were written.
    config: isRecord(config) ? without(config, 'timeout', 'retries', 'max_retries') : config,
    integrations: given['integrations'] === undefined ? undefined : listed(given['integrations']),
    steps: Array.isArray(given['steps']) ? given['steps'].map(proseStep) : given['steps'],
  })
}

const normalContext = (given: Json | undefined): Json | undefined => {
  if (!isRecord(given)) return given
  const { static_files: paths, static: files = paths, ...rest } = given
  if (files === undefined) return rest
  return defined({
    ...rest,
    static: mapped(
      listed(files).map((entry) => (typeof entry === 'string' ? { source: entry, dest: entry } : entry)),
      (entry) => defined({ ...entry, source: fullBraces(entry['source']), dest: fullBraces(entry['dest']) }),
    ),
  })
}

const longArtifact = (entry: Json): Json => {
  if (typeof entry === 'string') return { file: entry }
  return isRecord(entry) ? defined({ ...entry, persist_to: renamed(STORES, entry['persist_to']) }) : entry
}

const normalContract = (given: Json | undefined): Json | undefined => {
  if (!isRecord(given)) return given
  const { context_in: into, context_out: out } = given
  const artifacts = isRecord(out) && Array.isArray(out['artifacts']) ? out['artifacts'].map(longArtifact) : undefined
  return defined({
    ...given,
    context_in: normalContext(into),
    context_out: isRecord(out) ? defined({ ...out, artifacts: artifacts ?? out['artifacts'] }) : out,
  })
}

export const normalAgent = (given: JsonRecord): JsonRecord => {
  const { workspace, contract, limits } = given
  return defined({
    ...given,
    contract: normalContract(contract),
    limits: isRecord(limits) ? without(limits, 'max_retries', 'retries') : limits,
    workspace: isRecord(workspace) ? defined({ ...workspace, base: fullBraces(workspace['base']) }) : workspace,
  })
}

export const normalHuman = (given: JsonRecord): JsonRecord => {
  const { allowed_actions: allowed, actions = allowed, ...rest } = given
  return defined({ ...rest, actions })
}

const slug = (text: string): string =>
  text
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '') || 'step'

const normalStep = (entry: Json, position: number): Json => {
  const given = isRecord(entry) && isRecord(entry['subtask']) ? entry['subtask'] : entry
  if (!isRecord(given)) return typeof given === 'string' ? { id: slug(given), name: given } : given
  const { id, name, requires, retries: _, max_retries: __, ...rest } = given
  return defined({
    id: id ?? (typeof name === 'string' ? slug(name) : `step-${position + 1}`),
    name,
    ...rest,
    assigned_to: renamed(MODALITIES, given['assigned_to']),
    default_modality: renamed(MODALITIES, given['default_modality']),
    requires: requires === undefined ? undefined : listed(requires),
    retry: longRetry(given),
  })
}

export const normalPlan = (given: JsonRecord): JsonRecord => {
  const { subtask, subtasks, steps = subtasks ?? subtask, ...rest } = given
  return defined({ ...rest, steps: steps === undefined ? undefined : listed(steps).map(normalStep) })
}

/** `emits: [x]` is `emits: x`; the path for a relay in front is served too. */
export const normalWebhook = (given: JsonRecord): JsonRecord => {
  const { event: named, emits = named, emit = emits, hookdeck, path, routing, ...rest } = given
  const [only] = listed(emit)
  const event = isRecord(only) ? only['event'] : only
  const relayed = isRecord(hookdeck) ? hookdeck['path'] : undefined
  return defined({
    ...rest,
    emits: listed(emit).length > 1 ? emit : event,
    auth: given['auth'] ?? (given['unsigned'] === true && given['secret'] === undefined ? 'none' : undefined),
    path: path ?? relayed,
    routing,
    hookdeck,
  })
}
