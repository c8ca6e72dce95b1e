/**
 * Brings what a workflow function declares from what an author writes to the normal form.
 *
 * Owns the spelling, what is inferred, and every refusal at definition time. Never evaluates a rule.
 */
import { invalidAt, oneOf, ruleAt } from '#manifest/expressions/ranges.ts'
import { compileRule, EMIT_ROOTS } from '#manifest/expressions/rules.ts'
import { compileTemplate } from '#manifest/expressions/template.ts'
import { definePlan } from '#manifest/plan/plans.ts'
import { jsonSchemaOf } from '#manifest/schema/json-schema.ts'
import type { Schema } from '#manifest/schema/schema.ts'
import { durationMs } from '#manifest/time/duration.ts'
import { isEventType, isReservedType } from '#model/event/event.ts'
import type { FanInPolicy } from '#model/flow/policies/fan-in.ts'
import { TrihandError } from '#model/kernel/errors.ts'
import { type Json, toJson } from '#model/kernel/json.ts'
import type { Modality } from '#model/kernel/modality.ts'
import type {
  EmitSource,
  LookupSource,
  PersistSource,
  RouteSource,
  StateMachineSource,
  WorkflowSource,
} from '#model/workflow/source.ts'
import {
  EMIT_ENDS,
  type EmitEnd,
  type EmitSpec,
  type EntityMachine,
  type Filler,
  type LookupSpec,
  OPERATIONS,
  type Operation,
  type PersistSpec,
  PLAIN,
  type RouteSpec,
  type StateSpec,
  type WorkflowSpec,
} from '#model/workflow/spec.ts'
import type { FunctionDefinition } from './system.ts'

const NAME = /^[a-z][a-z0-9_-]{0,63}$/i
const ENFORCES = ['warn', 'off', 'strict'] as const

/** What a function's declarations need to know about the rest of the system. */
export interface WorkflowWorld {
  /** The members that an event declares; null: it declares none, or they are not known. */
  fieldsOf(event: string): readonly string[] | null
  readonly machines: ReadonlyMap<string, EntityMachineDefinition>
  /** Every handler with its modality. */
  readonly hands: ReadonlyMap<string, Modality>
}

export interface EntityMachineDefinition {
  readonly machine: EntityMachine
  readonly key: string | null
}

const eventAt = (path: string, event: string): string => {
  if (!isEventType(event)) throw invalidAt(path, `"${event}" is not an event type`)
  if (isReservedType(event))
    throw new TrihandError('EVENT_RESERVED', `only the system sends ${event}`, { place: { path } })
  return event
}

const emitRule = (path: string, text: string): NonNullable<EmitSpec['when']> => {
  try {
    return { text, rule: compileRule(text, EMIT_ROOTS) }
  } catch (error) {
    if (!(error instanceof TrihandError)) throw error
    throw new TrihandError(error.code, `${path}: ${error.detail}`, { place: { ...error.place, path } })
  }
}

const filler = (given: Json): Filler => compileTemplate(given, EMIT_ROOTS)

const emitOf = (given: string | EmitSource, path: string, world: WorkflowWorld): EmitSpec => {
  const { event, on = 'success', when, delay, data } = typeof given === 'string' ? { event: given } : given
  return {
    event: eventAt(path, event),
    on: oneOf<EmitEnd>(`${path}.on`, on, EMIT_ENDS),
    when: when === undefined ? null : emitRule(`${path}.when`, when),
    delayMs: delay === undefined ? null : durationMs(delay),
    data: data === undefined ? null : filler(toJson(data)),
    fields: world.fieldsOf(event),
  }
}

const keyRule = (path: string, text: string) => ({ text, rule: ruleAt(path, text) })

const lookupOf = (path: string, { table, key, as }: LookupSource): LookupSpec => {
  if (!NAME.test(as)) throw invalidAt(`${path}.as`, `"${as}" is not a name`)
  return { table, key: keyRule(`${path}.key`, key), as }
}

/** `id = {{ payload.id }}` is the only condition that a document store supports: one row by its key. */
const WHERE = /^\s*(?:\w+\.)?id\s*=\s*(.+?)\s*$/

const whereKey = (path: string, where: string): PersistSpec['key'] => {
  const value = WHERE.exec(where)?.[1]
  if (value === undefined)
    throw new TrihandError('CONDITION_UNSUPPORTED', `${path}: "${where}"; write id = <value>`, { place: { path } })
  return filler(value.replace(/^'(.*)'$/, '$1'))
}

const persistOf = (path: string, source: PersistSource): PersistSpec => {
  const kinds = ['insert', 'update', 'log'] as const
  const named = kinds.filter((kind) => source[kind] !== undefined)
  const [kind] = named
  if (kind === undefined || named.length > 1) throw invalidAt(path, 'expected one of insert, update and log')
  const table = source[kind] as string
  const written = { insert: source.values, update: source.set, log: source.data }[kind]
  const value = filler(toJson(written ?? {}))
  if (kind === 'update' && source.where === undefined) throw invalidAt(`${path}.where`, 'an update needs id = <value>')
  const key = source.where === undefined ? null : whereKey(`${path}.where`, source.where)
  return { kind, table, key, value }
}

const routeOf = (path: string, given: RouteSource): RouteSpec => {
  const { then: calls = [] } = given
  return {
    emit: given.emit === undefined ? null : eventAt(`${path}.emit`, given.emit),
    calls: typeof calls === 'string' ? [calls] : calls,
  }
}

const routingOf = (path: string, source: WorkflowSource['routing']): WorkflowSpec['routing'] => {
  if (source === undefined) return null
  const { routeOn, routes, defaultRoute } = source
  return {
    on: keyRule(`${path}.routeOn`, routeOn),
    routes: new Map(Object.entries(routes).map(([value, route]) => [value, routeOf(`${path}.routes.${value}`, route)])),
    otherwise: defaultRoute === undefined ? null : routeOf(`${path}.defaultRoute`, defaultRoute),
  }
}

const stateOf = (path: string, source: WorkflowSource, { machines }: WorkflowWorld): StateSpec | null => {
  const { stateIn, stateOut, entity } = source
  if (stateIn === undefined && stateOut === undefined) return null
  const [only] = machines.size === 1 ? machines.values() : []
  const found = entity === undefined ? only : machines.get(entity)
  if (found === undefined) throw invalidAt(`${path}.entity`, 'expected the entity of a state machine of this system')
  const { machine, key } = found
  const text = source.entityKey ?? key
  if (text === null) throw invalidAt(`${path}.entityKey`, `the state machine of ${machine.entity} has no key`)
  const from = stateIn === undefined ? [] : typeof stateIn === 'string' ? [stateIn] : stateIn
  const isWritten = stateOut !== undefined && !stateOut.includes('{{') && stateOut !== 'same'
  for (const state of [...from, ...(isWritten ? [stateOut] : [])])
    if (!machine.states.has(state)) throw invalidAt(path, `${machine.entity} has no state ${state}`)
  return { machine, key: keyRule(`${path}.key`, text), from, to: stateOut === undefined ? null : filler(stateOut) }
}

/** If given: exactly these. Else, if anything is declared, the operations that the declarations need. Else no list at all. */
const operationsOf = (path: string, source: WorkflowSource): WorkflowSpec['operations'] => {
  const { allowedOperations, emits = [], persist = [], integrations = [], routing } = source
  if (allowedOperations !== undefined)
    return new Set(
      allowedOperations.map((one, i) => oneOf(`${path}.allowedOperations.${i}`, one as Operation, OPERATIONS)),
    )
  const isDeclared = [source.emits, source.persist, source.integrations].some((one) => one !== undefined)
  if (!isDeclared) return null
  const isDelayed = emits.some((entry) => typeof entry !== 'string' && entry.delay !== undefined)
  const inferred: readonly (Operation | null)[] = [
    'transform',
    emits.length > 0 || routing !== undefined ? 'emit_event' : null,
    integrations.length > 0 ? 'api_call' : null,
    persist.length > 0 ? 'db_write' : null,
    isDelayed ? 'schedule' : null,
  ]
  return new Set(inferred.filter((operation) => operation !== null))
}

export const defineWorkflow = (
  path: string,
  source: WorkflowSource,
  world: WorkflowWorld & { readonly fanIn: FanInPolicy | null },
): WorkflowSpec => {
  const { emits, dbLookups = [], persist = [], validateInput } = source
  const spec = {
    operations: operationsOf(path, source),
    emits: emits === undefined ? null : emits.map((entry, i) => emitOf(entry, `${path}.emits.${i}`, world)),
    lookups: dbLookups.map((lookup, i) => lookupOf(`${path}.dbLookups.${i}`, lookup)),
    requires: validateInput?.payload ?? [],
    exists:
      validateInput?.exists === undefined
        ? null
        : lookupOf(`${path}.validateInput.exists`, { ...validateInput.exists, as: 'exists' }),
    persist: persist.map((entry, i) => persistOf(`${path}.persist.${i}`, entry)),
    routing: routingOf(`${path}.routing`, source.routing),
    fanIn: world.fanIn,
    state: stateOf(path, source, world),
    plan:
      source.plan === undefined
        ? null
        : { ...definePlan(`${path}.plan`, source.plan, world.hands), shown: [], hash: '' },
  }
  const isPlain = JSON.stringify(spec) === JSON.stringify(PLAIN)
  return isPlain ? PLAIN : spec
}

export const defineMachines = (
  sources: readonly StateMachineSource[],
): ReadonlyMap<string, EntityMachineDefinition> => {
  const machines = new Map<string, EntityMachineDefinition>()
  for (const { entity, key, initial, states, enforce = 'warn' } of sources) {
    const path = `stateMachines.${entity}`
    if (machines.has(entity))
      throw new TrihandError('MANIFEST_DUPLICATE_NAME', `two state machines are about ${entity}`)
    const known = new Map(
      states.map(({ name, transitionsTo = [], terminal = false }) => [name, { to: transitionsTo, terminal }] as const),
    )
    const strangers = [initial, ...states.flatMap(({ transitionsTo = [] }) => transitionsTo)].filter(
      (to) => !known.has(to),
    )
    if (strangers.length > 0) throw invalidAt(path, `${strangers[0]} is not one of its states`)
    const machine = { entity, initial, states: known, enforce: oneOf(`${path}.enforce`, enforce, ENFORCES) }
    machines.set(entity, { machine, key: key ?? null })
  }
  return machines
}

/** The members that an event's schema names; null if it names none, or cannot be written as JSON Schema. */
export const fieldsOf = (schema: Schema | null): readonly string[] | null => {
  if (schema === null) return null
  try {
    const { properties } = jsonSchemaOf(schema, 'events') as { readonly properties?: object }
    return properties === undefined ? null : Object.keys(properties)
  } catch (error) {
    if (error instanceof TrihandError) return null
    throw error
  }
}

/** Every event that a function declares to send. */
export const eventsSentBy = ({ workflow }: FunctionDefinition): readonly string[] => {
  const routes = workflow.routing === null ? [] : [...workflow.routing.routes.values(), workflow.routing.otherwise]
  return [...(workflow.emits ?? []).map(({ event }) => event), ...routes.flatMap((route) => route?.emit ?? [])]
}
