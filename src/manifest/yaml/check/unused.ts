/**
 * Reports what is kept and drawn, but has no effect yet: once for each section and each key, never silently ignored.
 *
 * Owns the list of what the engine reads. The list of exceptions shrinks as features are added.
 */
import type { AddFinding, Path } from '#manifest/yaml/finding.ts'
import { HUMAN_KEYS } from '#manifest/yaml/human-source.ts'
import { type ExecutorSection, field, type HandlerEntry, type Manifest, readsQueue } from '#manifest/yaml/manifest.ts'
import { isRecord, type JsonRecord, recordsIn } from '#manifest/yaml/record.ts'
import { AGENT_KEYS, FUNCTION_KEYS, PLAN_KEYS } from '#manifest/yaml/source.ts'
import { existingOf } from '#manifest/yaml/workflow-source.ts'
import type { Json } from '#model/kernel/json.ts'
import { isAnnotation } from './shape.ts'

const SECTIONS = ['session_pools', 'integrations', 'infrastructure', 'observability'] as const

const KEYS: Readonly<Partial<Record<ExecutorSection, ReadonlySet<string>>>> = {
  functions: FUNCTION_KEYS,
  agents: AGENT_KEYS,
  humans: HUMAN_KEYS,
  plans: PLAN_KEYS,
}

const isEmpty = (value: unknown): boolean => {
  if (value === undefined || value === null) return true
  return typeof value === 'object' && Object.keys(value).length === 0
}

const tellKeys = (section: ExecutorSection, handlers: readonly HandlerEntry[], tell: AddFinding): void => {
  const read = KEYS[section]
  if (read === undefined) return
  const users = new Map<string, string[]>()
  for (const handler of handlers)
    for (const key of Object.keys(handler))
      if (
        !read.has(key) &&
        !(key === 'mode' && readsQueue(handler) !== null) &&
        !isAnnotation(key) &&
        !isEmpty(handler[key])
      )
        users.set(key, [...(users.get(key) ?? []), handler.name])
  for (const [key, [first = '', ...others]] of users) {
    const rest = others.length === 0 ? '' : ` and ${others.length} more`
    const message = `${key} of ${first}${rest} is stored and shown, but has no effect yet`
    tell({ level: 'info', code: 'LINT_NOT_USED', message, path: [section, first, key], on: 'key' })
  }
}

/** The sources that a daemon may declare besides a queue. */
const OTHER_SOURCES = 'sse websocket http file_tail stdin custom loop file table condition signal'.split(' ')

/** Parts without effect, inside of keys that are otherwise used. */
const PARTS: readonly (readonly [ExecutorSection, ...string[]])[] = [
  ...OTHER_SOURCES.map((source) => ['functions', 'source', source] as const),
  ['agents', 'workspace', 'base'],
]

/** Keys that would look like a promise: refused, with what to write instead. */
const REFUSED: readonly (readonly [section: ExecutorSection, key: string, part: string | null, instead: string])[] = [
  ...(['functions', 'agents', 'plans'] as const).map(
    (section) =>
      [section, 'circuit', 'half_open', 'an open breaker is always tried by one call at a time; omit the key'] as const,
  ),
  ['plans', 'budget', null, 'the cost of a plan is not limited; set limits.max_cost_usd of the agents that it calls'],
  ...(['functions', 'agents', 'plans'] as const).flatMap((section) => [
    [section, 'validate_input', 'state', 'the state of an entity is checked by state_in; write it there'] as const,
    [section, 'validate_input', 'files', 'files are not checked before a run; check them in the function'] as const,
  ]),
]

const refuse = (manifest: Manifest, tell: AddFinding): void => {
  for (const [section, key, part, instead] of REFUSED)
    for (const handler of manifest[section] ?? []) {
      const value = field(handler, key)
      const given = part === null ? value : isRecord(value) ? value[part] : undefined
      if (isEmpty(given)) continue
      const path = [section, handler.name, key, ...(part === null ? [] : [part])]
      const message = `${key}${part === null ? '' : `.${part}`} of ${handler.name} would have no effect: ${instead}`
      tell({ level: 'error', code: 'MANIFEST_INVALID', message, path, on: 'key' })
    }
}

/** An escalation names a single recipient. */
const refuseTakers = (manifest: Manifest, tell: AddFinding): void => {
  const told = (rules: Json | undefined, base: Path, keys: readonly string[]): void => {
    for (const [i, rule] of recordsIn(rules).entries())
      for (const key of keys) {
        if (rule[key] === undefined) continue
        const message = `${key} of an escalation rule would have no effect: write escalate_to: group:leads, or the name of a human that has it`
        tell({
          level: 'error',
          code: 'MANIFEST_INVALID',
          message,
          path: [...base, 'escalation_rules', i, key],
          on: 'key',
        })
      }
  }
  for (const agent of manifest.agents ?? [])
    told(field(agent, 'escalation_rules'), ['agents', agent.name], ['assign', 'deadline'])
  for (const plan of manifest.plans ?? [])
    for (const step of recordsIn(field(plan, 'steps')))
      told(step['escalation_rules'], ['plans', plan.name, 'steps', String(step['id'])], ['assign'])
}

const tellEvents = (manifest: Manifest, tell: AddFinding): void => {
  const event = manifest.events.definitions.find((one) => one['idempotency_key'] !== undefined)
  if (event === undefined) return
  const message = `idempotency_key of ${event.name} is stored and shown, but has no effect yet; send an id, or write idempotency at the handler`
  const path = ['events', 'definitions', event.name, 'idempotency_key']
  tell({ level: 'info', code: 'LINT_NOT_USED', message, path, on: 'key' })
}

const refuseChecks = (manifest: Manifest, tell: AddFinding): void => {
  for (const section of ['functions', 'plans'] as const)
    for (const handler of manifest[section] ?? []) {
      const input = field(handler, 'validate_input')
      if (!isRecord(input)) continue
      const path = [section, handler.name, 'validate_input']
      if (input['exists'] !== undefined && existingOf(handler) === null) {
        const message = `exists of ${handler.name} is "${String(input['exists'])}"; write <table>.id = {{ payload.<field> }}`
        tell({ level: 'error', code: 'CONDITION_UNSUPPORTED', message, path: [...path, 'exists'] })
      }
      if (input['on_invalid'] === 'skip') {
        const message = `on_invalid of ${handler.name}: a run with invalid input fails; use a filter to decide when it starts`
        tell({ level: 'error', code: 'MANIFEST_INVALID', message, path: [...path, 'on_invalid'] })
      }
    }
}

const tellParts = (manifest: Manifest, tell: AddFinding): void => {
  for (const [section, key = '', part = ''] of PARTS) {
    const handler = manifest[section]?.find((one) => {
      const value = field(one, key)
      return isRecord(value) && value[part] !== undefined
    })
    if (handler === undefined) continue
    const message = `${key}.${part} of ${handler.name} is stored and shown, but has no effect yet`
    tell({ level: 'info', code: 'LINT_NOT_USED', message, path: [section, handler.name, key, part], on: 'key' })
  }
}

const STEP_KEYS: ReadonlySet<string> = new Set(
  'id name type assigned_to default_modality requires when each as trigger inputs agent_config human_config workflow_config approval_config review_config wait_config output_schema escalation_rules effect retry timeout on_failure on_partial on_reject on_parent_end gate'.split(
    ' ',
  ),
)

const tellSteps = (manifest: Manifest, tell: AddFinding): void => {
  const told = new Set<string>()
  for (const plan of manifest.plans ?? [])
    for (const step of recordsIn(field(plan, 'steps')))
      for (const key of Object.keys(step)) {
        if (STEP_KEYS.has(key) || isAnnotation(key) || told.has(key)) continue
        told.add(key)
        const message = `${key} of step ${String(step['id'])} is stored and shown, but has no effect yet`
        tell({ level: 'info', code: 'LINT_NOT_USED', message, path: ['plans', plan.name, 'steps', String(step['id'])] })
      }
}

/** Sections of which only some keys are used. */
const IN_SECTIONS: readonly (readonly [string, string])[] = [
  ['tenancy', 'isolation'],
  ['database', 'actors'],
  ['database', 'tables'],
  ['database', 'migrations_dir'],
  ['limits', 'max_fan_out'],
  ['defaults', 'session'],
]

const tellInSections = (manifest: Manifest, tell: AddFinding): void => {
  for (const [section, key] of IN_SECTIONS) {
    const value = manifest[section as keyof Manifest] as unknown
    if (!isRecord(value as Json) || isEmpty((value as JsonRecord)[key])) continue
    const message = `${section}.${key} is stored and shown, but has no effect yet`
    tell({ level: 'info', code: 'LINT_NOT_USED', message, path: [section, key], on: 'key' })
  }
}

export const findUnused = (manifest: Manifest, tell: AddFinding): void => {
  for (const section of SECTIONS)
    if (!isEmpty(manifest[section])) {
      const message = `${section} is stored and shown, but has no effect yet`
      tell({ level: 'info', code: 'LINT_NOT_USED', message, path: [section], on: 'key' })
    }
  for (const section of Object.keys(KEYS) as ExecutorSection[]) tellKeys(section, manifest[section] ?? [], tell)
  refuse(manifest, tell)
  refuseChecks(manifest, tell)
  refuseTakers(manifest, tell)
  tellEvents(manifest, tell)
  tellParts(manifest, tell)
  tellSteps(manifest, tell)
  tellInSections(manifest, tell)
}
