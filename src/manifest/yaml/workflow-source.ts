/**
 * What a function declares around its code, and the state machines of entities, in the author's form.
 *
 * Owns what is inferred: the key of a machine, the row that an update changes. What lint has warned about (an undeclared state) is
 * left out here, so that a warning stays a warning.
 */
import { MANIFEST } from '#manifest/yaml/check/sections.ts'
import type { RecordShape } from '#manifest/yaml/check/shape.ts'
import { authorForm } from '#manifest/yaml/normalise/author-form.ts'
import type { Json } from '#model/kernel/json.ts'
import type { StateMachineSource } from '#model/workflow/source.ts'
import { field, type HandlerEntry, type MachineEntry, type Manifest } from './manifest.ts'
import { defined, isRecord, type JsonRecord, listed, recordsIn } from './record.ts'

export const WORKFLOW_KEYS: readonly string[] =
  'emits allowed_operations integrations db_lookups validate_input persist routing fan_in entity entity_key state_in state_out'.split(
    ' ',
  )

const shapeOf = (section: string): RecordShape => (MANIFEST.fields[section] as { readonly of: RecordShape }).of

/** `id = {{payload.order_id}}` selects a document; the group is the expression inside. */
const KEYED = /^\s*(?:\w+\.)?id\s*=\s*\{\{\s*(.+?)\s*\}\}\s*$/

const lookupOf = (lookup: JsonRecord): readonly JsonRecord[] => {
  const { table, as, key = KEYED.exec(String(lookup['where'] ?? lookup['query'] ?? ''))?.[1] } = lookup
  return key === undefined ? [] : [{ table: table as Json, as: as as Json, key }]
}

/** An update without `where` changes the row that must exist. */
const persistOf = (entry: JsonRecord, handler: HandlerEntry): readonly JsonRecord[] => {
  if (entry['custom_function'] !== undefined) return []
  const input = field(handler, 'validate_input')
  const exists = isRecord(input) ? input['exists'] : undefined
  const isOpen = entry['update'] !== undefined && entry['where'] === undefined && exists !== undefined
  return [isOpen ? { ...entry, where: exists } : entry]
}

const EXISTING = /^\s*(?:(\w+)\.)?id\s*=\s*\{\{\s*(.+?)\s*\}\}\s*$/

/** The document that `exists` names, by its id; without a table that of the first update. Null: it is something else. */
export const existingOf = (handler: HandlerEntry): JsonRecord | null => {
  const input = field(handler, 'validate_input')
  const [, prefix, key] = EXISTING.exec(isRecord(input) ? String(input['exists'] ?? '') : '') ?? []
  const table = prefix ?? recordsIn(field(handler, 'persist')).find(({ update }) => update !== undefined)?.['update']
  return key === undefined || typeof table !== 'string' ? null : { table, key }
}

const knownStates = (manifest: Manifest): ReadonlySet<string> =>
  new Set(machinesOf(manifest).flatMap(({ states }) => states.map(({ name }) => name)))

/** An agent names them in its contract. */
export const statesOf = (handler: HandlerEntry, manifest: Manifest): JsonRecord => {
  const known = knownStates(manifest)
  const contract = field(handler, 'contract')
  const said = (key: string): Json | undefined =>
    field(handler, key) ?? (isRecord(contract) ? contract[key] : undefined)
  const from = listed(said('state_in')).filter((state) => known.has(String(state)))
  const to = said('state_out')
  const isKnown = typeof to === 'string' && (known.has(to) || to === 'same' || to.includes('{{'))
  return defined({ state_in: from.length === 0 ? undefined : from, state_out: isKnown ? to : undefined })
}

export const workflowSource = (handler: HandlerEntry, manifest: Manifest): JsonRecord => {
  const given = defined(Object.fromEntries(WORKFLOW_KEYS.map((key) => [key, field(handler, key)])))
  const { state_in: _, state_out: __, db_lookups: lookups, persist, validate_input: input, ...rest } = given
  const required = isRecord(input) ? input['payload'] : undefined
  const exists = existingOf(handler) ?? undefined
  const checks = defined({ payload: required, exists })
  const declared = authorForm(shapeOf('functions'), {
    ...rest,
    ...statesOf(handler, manifest),
    ...defined({
      db_lookups: lookups === undefined ? undefined : recordsIn(lookups).flatMap(lookupOf),
      persist: persist === undefined ? undefined : recordsIn(persist).flatMap((entry) => persistOf(entry, handler)),
    }),
  }) as JsonRecord
  return Object.keys(checks).length === 0 ? declared : { ...declared, validateInput: checks }
}

/** The id that most events require. */
const commonKey = (manifest: Manifest): string | null => {
  const counts = new Map<string, number>()
  for (const { payload } of manifest.events.definitions)
    for (const [name, one] of Object.entries(isRecord(payload) ? payload : {}))
      if (name.endsWith('_id') && isRecord(one) && one['required'] === true)
        counts.set(name, (counts.get(name) ?? 0) + 1)
  const [best] = [...counts].sort((a, b) => b[1] - a[1])
  return best === undefined ? null : best[0]
}

/** A bare field is a field of the payload. */
const keyOf = (machine: MachineEntry, manifest: Manifest): string | null => {
  const given = field(machine, 'key') ?? commonKey(manifest)
  if (typeof given !== 'string') return null
  return /^\w+$/.test(given) ? `payload.${given}` : given
}

/** The machines that can be stored: they have a key and an initial state. */
const machinesOf = (manifest: Manifest): readonly MachineEntry[] =>
  (manifest.state_machines ?? []).filter(
    (machine) => keyOf(machine, manifest) !== null && machine.states.some(({ name }) => name === machine.initial),
  )

export const machinesSource = (manifest: Manifest): readonly StateMachineSource[] =>
  machinesOf(manifest).map((machine) => {
    const names = new Set(machine.states.map(({ name }) => name))
    const states = machine.states.map(({ transitions_to: to = [], ...state }) => ({
      ...state,
      transitions_to: to.filter((next) => names.has(next)),
    }))
    const entry = { ...machine, key: keyOf(machine, manifest), states } as unknown as Json
    return authorForm(shapeOf('state_machines'), entry) as unknown as StateMachineSource
  })
