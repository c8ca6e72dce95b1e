/**
 * Expands the short forms of the sections that are not handlers: state machines, the database, executors.
 *
 * Owns those rows of the normalisation. Total: it passes everything that it does not understand on to the check.
 */
import { defined, isRecord, type JsonRecord, listed } from '#manifest/yaml/record.ts'
import type { Json } from '#model/kernel/json.ts'

/** A map of names to entries, or a list of entries or of bare names, as a list of entries; `name` is what the key becomes. */
export const namedEntries = (value: Json, name = 'name', ofScalar?: (scalar: Json) => JsonRecord): Json => {
  if (Array.isArray(value)) return value.map((entry) => (typeof entry === 'string' ? { [name]: entry } : entry))
  if (!isRecord(value)) return value
  return Object.entries(value).map(([key, entry]) => {
    if (entry === null) return { [name]: key }
    if (isRecord(entry)) return { [name]: key, ...entry }
    return ofScalar === undefined ? entry : { [name]: key, ...ofScalar(entry) }
  })
}

const longState = (state: Json): Json => {
  if (!isRecord(state)) return state
  const { transitions, to = transitions, transitions_to: next = to, ...rest } = state
  return defined({ ...rest, transitions_to: next === undefined ? undefined : listed(next) })
}

interface Move {
  readonly from: readonly string[]
  readonly to: readonly string[]
}

const texts = (value: Json | undefined): readonly string[] =>
  listed(value).filter((one): one is string => typeof one === 'string')

const movesOf = (given: Json | undefined): readonly Move[] => {
  if (Array.isArray(given))
    return given.flatMap((one) => (isRecord(one) ? { from: texts(one['from']), to: texts(one['to']) } : []))
  return isRecord(given) ? Object.entries(given).map(([from, to]) => ({ from: [from], to: texts(to) })) : []
}

/** True if transitions contain only their targets. */
const isPlain = (given: Json | undefined): boolean =>
  !Array.isArray(given) ||
  given.every((one) => isRecord(one) && Object.keys(one).every((key) => /^(from|to)$/.test(key)))

const withMoves = (states: readonly Json[], moves: readonly Move[]): readonly Json[] =>
  states.map((state) => {
    if (!isRecord(state)) return state
    const more = moves.filter(({ from }) => from.includes(String(state['name']))).flatMap(({ to }) => to)
    if (more.length === 0) return state
    return { ...state, transitions_to: [...new Set([...texts(state['transitions_to']), ...more])] }
  })

/** `lead_id` and `payload.lead_id` are keys of a lead. */
const entityOf = (key: Json | undefined): string =>
  (typeof key === 'string' ? /(\w+?)(?:_id|Id)?\s*$/.exec(key)?.[1] : undefined) ?? 'entity'

/** The state that no transition leads to; if there are several or none, the one that was written first. */
const firstState = (states: readonly Json[]): Json | undefined => {
  const known = states.filter(isRecord)
  const targets = new Set(known.flatMap(({ transitions_to: to }) => texts(to)))
  const sources = known.filter(({ name, transitions_to: to }) => !targets.has(String(name)) && texts(to).length > 0)
  return (sources.length === 1 ? sources[0] : known[0])?.['name']
}

/** Without an entity it is named after its key; without an initial state it begins where no transition leads. */
export const normalMachine = (given: Json): Json => {
  if (!isRecord(given)) return given
  const { name, entity = name, initial_state: begin, initial = begin, transitions, states, ...rest } = given
  const named = states === undefined ? undefined : namedEntries(states, 'name', (to) => ({ transitions_to: to }))
  const all = Array.isArray(named) ? withMoves(named.map(longState), movesOf(transitions)) : named
  const first = Array.isArray(all) ? firstState(all) : undefined
  return defined({
    ...rest,
    entity: entity ?? entityOf(given['key']),
    initial: initial ?? first,
    states: all,
    transitions: isPlain(transitions) ? undefined : transitions,
  })
}

const normalTable = (table: Json): Json => {
  if (!isRecord(table)) return table
  const { columns, access } = table
  return defined({
    ...table,
    columns: columns === undefined ? undefined : namedEntries(columns, 'name', (type) => ({ type })),
    access:
      access === undefined
        ? undefined
        : namedEntries(access, 'actor', (operations) => ({ operations: listed(operations) })),
  })
}

export const normalDatabase = (given: Json): Json => {
  if (!isRecord(given)) return given
  const { actors, tables } = given
  const all = tables === undefined ? undefined : namedEntries(tables)
  return defined({
    ...given,
    actors: actors === undefined ? undefined : namedEntries(actors, 'name', (description) => ({ description })),
    tables: Array.isArray(all) ? all.map(normalTable) : all,
  })
}

/** `type` is the name in the author API. An address alone is a remote executor. */
export const normalExecutors = (given: Json): Json => {
  const entries = namedEntries(given, 'name', (url) => ({ url }))
  if (!Array.isArray(entries)) return entries
  return entries.map((entry) => {
    if (!isRecord(entry)) return entry
    const { type, executor_type: other = type, name = other, ...rest } = entry
    return defined({ name, ...rest })
  })
}
