/**
 * Finds the events of a system that only people may send, and the declarations that would let a program send one or start what one starts.
 *
 * Owns the analysis of a definition. The rule itself is model/access/human-only.ts; violations that only show at run time are refused then
 * (engine/core/events.ts, engine/step/internal.ts).
 */
import type { FunctionDefinition, System } from '#manifest/define/system.ts'
import { forbidProducer, type HumanOnly, PROGRAM } from '#model/access/human-only.ts'
import type { AgentSpec } from '#model/agent/agent.ts'
import { TrihandError } from '#model/kernel/errors.ts'
import type { PlanStepSource } from '#model/plan/source.ts'
import { type HumanSource, humanEvents } from './humans.ts'

/** An event with more than a schema, as an author writes it in code. */
export interface EventOptions {
  readonly schema?: unknown
  /** `human`: unless a task emits it, only a person can send it, under their own name. */
  readonly source?: 'human' | 'machine' | 'external'
  /** Programs may send it, too, although people's decisions emit it. */
  readonly open?: boolean
}

const KEYS: readonly string[] = ['schema', 'source', 'open']

/** Told apart from a schema, which has `~standard`, by having only these keys. */
export const isEventOptions = (given: unknown): given is EventOptions =>
  typeof given === 'object' && given !== null && Object.keys(given).every((key) => KEYS.includes(key))

interface Declared {
  readonly events?: Readonly<Record<string, unknown>>
  readonly humans?: readonly HumanSource[]
  readonly functions?: readonly {
    readonly name: string
    readonly options: { readonly plan?: { readonly steps?: readonly PlanStepSource[] } }
  }[]
}

const actionEvents = ({ humanConfig }: PlanStepSource): readonly string[] =>
  (humanConfig?.actions ?? []).flatMap((action) =>
    typeof action === 'string' ? [] : (action.emitsEvent ?? action.emits ?? []),
  )

/** By event type: the declared humans, and plans with a human step, whose tasks emit it. */
const askers = ({ humans = [], functions = [] }: Declared): ReadonlyMap<string, readonly string[]> => {
  const found = new Map<string, string[]>()
  const add = (type: string, handler: string): void => {
    const before = found.get(type) ?? []
    if (!before.includes(handler)) found.set(type, [...before, handler])
  }
  for (const source of humans) for (const type of humanEvents(source)) add(type, source.name)
  for (const { name, options } of functions)
    for (const step of options.plan?.steps ?? []) for (const type of actionEvents(step)) add(type, name)
  return found
}

/** Computed once for a system, so that an incoming event only needs to check its own definition. */
export const humanOnlyEvents = (declared: Declared): ReadonlyMap<string, HumanOnly> => {
  const only = new Map<string, HumanOnly>()
  for (const [type, of] of askers(declared)) only.set(type, { kind: 'decision', of })
  for (const [type, given] of Object.entries(declared.events ?? {})) {
    if (!isEventOptions(given)) continue
    if (given.source === 'human' && !only.has(type)) only.set(type, { kind: 'person' })
    if (given.open !== true) continue
    const path = `events.${type}.open`
    if (!only.delete(type))
      throw new TrihandError(
        'MANIFEST_INVALID',
        `${path}: programs could still send it: it is not caused by a person alone`,
        {
          place: { path },
        },
      )
  }
  return only
}

interface Named {
  readonly name: string
  readonly path: string
}

const eventsSentBy = ({ name, modality, code, workflow }: FunctionDefinition): readonly Named[] => {
  const path = `${modality === 'agent' ? 'agents' : 'functions'}.${name}`
  const emits = modality === 'agent' ? (code as AgentSpec).emits : (workflow.emits ?? [])
  const routes = [...(workflow.routing?.routes ?? [])].map(([value, route]) => [`routes.${value}`, route] as const)
  return [
    ...emits.map(({ event }, i) => ({ name: event, path: `${path}.emits.${i}` })),
    ...[...routes, ['defaultRoute', workflow.routing?.otherwise ?? null] as const].flatMap(([at, route]) =>
      route?.emit == null ? [] : { name: route.emit, path: `${path}.routing.${at}` },
    ),
  ]
}

const calledBy = ({ name, modality, code, workflow }: FunctionDefinition): readonly Named[] => {
  if (modality === 'agent')
    return (code as AgentSpec).handoffs.map((called) => ({ name: called, path: `agents.${name}.handoffs` }))
  const path = `functions.${name}`
  const routes = [...(workflow.routing?.routes ?? [])].map(([value, route]) => [`routes.${value}`, route] as const)
  return [
    ...[...routes, ['defaultRoute', workflow.routing?.otherwise ?? null] as const].flatMap(([at, route]) =>
      (route?.calls ?? []).map((called) => ({ name: called, path: `${path}.routing.${at}` })),
    ),
    ...(workflow.plan?.steps ?? []).flatMap(({ id, work }) =>
      work.kind === 'call' ? { name: work.handler, path: `${path}.plan.steps.${id}` } : [],
    ),
  ]
}

type Parts = Pick<System, 'events' | 'functions' | 'webhooks' | 'schedules' | 'chats'>

const forged = ({ events, functions, webhooks, schedules }: Parts): readonly TrihandError[] => {
  const sent: readonly Named[] = [
    ...[...functions.values()].flatMap(eventsSentBy),
    ...[...webhooks.values()].map(({ name, emits }) => ({ name: emits, path: `webhooks.${name}.emits` })),
    ...[...schedules.values()].flatMap(({ name, target }) =>
      target.kind === 'emit' ? { name: target.name, path: `schedules.${name}.emit` } : [],
    ),
  ]
  return sent.flatMap(({ name, path }) => {
    const refusal = forbidProducer(name, events.get(name)?.only ?? null, PROGRAM)
    return refusal === null ? [] : new TrihandError(refusal.code, `${path}: ${refusal.detail}`, { place: { path } })
  })
}

const intruding = ({ functions, chats }: Parts): readonly TrihandError[] => {
  const called: readonly Named[] = [
    ...[...functions.values()].flatMap(calledBy),
    ...[...chats.values()].flatMap(({ name, executors }) =>
      executors.map((executor) => ({ name: executor.name, path: `chats.${name}.executors.${executor.name}` })),
    ),
  ]
  return called.flatMap(({ name, path }) =>
    functions.get(name)?.internal === true
      ? new TrihandError('FUNCTION_INTERNAL', `${path}: only its triggers start ${name}`, { place: { path } })
      : [],
  )
}

/** Everything in a system that would let a program act as a person. */
export const forgeries = (parts: Parts): readonly TrihandError[] => [...forged(parts), ...intruding(parts)]
