/**
 * The author API for systems: events and functions as values, checked and brought to the normal form.
 *
 * Owns normalisation and every refusal at definition time. Never runs anything.
 */
import { defineCircuit } from '#manifest/flow/circuit.ts'
import { defineFlows } from '#manifest/flow/flow.ts'
import { defineBudgets, type SharedBudgets } from '#manifest/flow/policies.ts'
import { asReader, defineQueues } from '#manifest/flow/queues.ts'
import { defineConstraints } from '#manifest/human/constraints.ts'
import { type EventOptions, forgeries, humanOnlyEvents, isEventOptions } from '#manifest/human/human-only.ts'
import { type HumanSource, humanEvents, humanHandler, humanShape } from '#manifest/human/humans.ts'
import { handlersIn, withShownPlans } from '#manifest/plan/reading.ts'
import { jsonSchemaOrNull } from '#manifest/schema/json-schema.ts'
import { isSchema, type Schema } from '#manifest/schema/schema.ts'
import { durationMs } from '#manifest/time/duration.ts'
import type { ScheduleOptions } from '#manifest/time/schedule.ts'
import { definedSchedules } from '#manifest/time/schedules.ts'
import type { Finding } from '#manifest/yaml/finding.ts'
import { type HumanOnly, reportsDecision } from '#model/access/human-only.ts'
import type { AgentSource } from '#model/agent/source.ts'
import type { ToolSource } from '#model/agent/tool-source.ts'
import { isEventType, isReservedType } from '#model/event/event.ts'
import { isLifecycleType } from '#model/event/lifecycle.ts'
import { DEFAULT_MAX_HOPS } from '#model/event/trigger.ts'
import type { BudgetSource } from '#model/flow/policies/flow-source.ts'
import { DEFAULT_RETRY } from '#model/flow/policies/retry.ts'
import type { QueueSource } from '#model/flow/queue-source.ts'
import { TrihandError } from '#model/kernel/errors.ts'
import { canonical, type Json } from '#model/kernel/json.ts'
import type { Modality } from '#model/kernel/modality.ts'
import type { FunctionSource } from '#model/workflow/function-source.ts'
import type { StateMachineSource } from '#model/workflow/source.ts'
import { PLAIN, type WorkflowSpec } from '#model/workflow/spec.ts'
import { agentHandler, agentShape, innerAgents } from './agents.ts'
import { awaitedBy, bindAll, ownFlows, triggersOf } from './bindings.ts'
import { defineCancelOn } from './cancel-on.ts'
import { asDeciders, type ChatSource, defineChats } from './chats.ts'
import { codeGiven, misplacedCode } from './code-file.ts'
import { LATER, laterFunction } from './delayed-event.ts'
import { defineEndpoints, type EndpointSource } from './endpoints.ts'
import { defineExecutors, type ExecutorSource } from './executors.ts'
import { defineModels, type ModelsSource } from './models.ts'
import { defineModules, type ModuleSource, type Modules, moduleOf } from './modules.ts'
import { definePlacement, definePools, type PoolSource } from './placement.ts'
import { type EventDefinition, type FunctionDefinition, hasCode, type System } from './system.ts'
import { defineTools } from './tools.ts'
import { defineWebhooks, type WebhookSource } from './webhooks.ts'
import { defineMachines, defineWorkflow, eventsSentBy, fieldsOf, type WorkflowWorld } from './workflow.ts'

/** A system: `{ name: 'shop', events: { 'order.paid': Order }, functions: [ship], agents: [triager], humans: [approveRefund] }`. */
export interface SystemSource {
  /** Its name: a letter, then at most 63 of `a-z 0-9 _ -`. */
  readonly name: string
  /**
   * Event types with their schemas, or with a schema, a source and `open`; null or true accepts any data. Default: those that are named as triggers
   * or as sent, with any data.
   */
  readonly events?: Readonly<Record<string, unknown>>
  /** Its workflow functions, from `fn`. Default: none. */
  readonly functions?: readonly FunctionSource[]
  /** Its agents, from `agent`. Default: none. */
  readonly agents?: readonly AgentSource[]
  /** What people are asked, from `human`. Default: none. */
  readonly humans?: readonly HumanSource[]
  /** Conversations: the agent that decides, and what may be executed. Default: none. */
  readonly chats?: readonly ChatSource[]
  /** Tools that agents may be allowed to use, from `tool`. Default: none besides the built-in ones. */
  readonly tools?: readonly ToolSource[]
  /** Names of models, the default one, and prices. Default: what the environment has keys for. */
  readonly models?: ModelsSource
  /** Answers of the simulated model, by agent. Default: none. */
  readonly scripts?: Readonly<Record<string, Json>>
  /** The folder of its files: instructions of agents, static files, templates. Set by the loader of a system's folder. */
  readonly folder?: string
  /** What lint found in the text of the system. Set by the loader. */
  readonly findings?: readonly Finding[]
  /** Webhooks that outside senders call, each with the event it becomes. Default: none. */
  readonly webhooks?: readonly WebhookSource[]
  /** Addresses outside to which events are posted, as signed webhooks. Default: none. */
  readonly endpoints?: readonly EndpointSource[]
  /** True: accept undeclared event types from outside too. Default: false. */
  readonly open?: boolean
  /** How many steps of machines a chain of causes may have until it is stopped. Default: 16. */
  readonly maxHops?: number
  /** Budgets of throttles that several functions share, by name. Default: none. */
  readonly limits?: { readonly shared?: Readonly<Record<string, BudgetSource>> }
  /** Groups of workers, with their labels. Default: those that functions name. */
  readonly pools?: readonly PoolSource[]
  /** What is started at certain times. Default: nothing. */
  readonly schedules?: readonly ScheduleOptions[]
  /** Bounded message queues, each processed by one handler. Default: none. */
  readonly queues?: readonly QueueSource[]
  /** The time zone of schedules that name none: `Europe/Berlin`. Default: UTC, with a warning. */
  readonly tz?: string
  /** Modules: functions that belong together, and what their code may do. Default: none. */
  readonly modules?: readonly ModuleSource[]
  /** The field of events that names their tenant. Default: none. */
  readonly tenancy?: { readonly identifier?: string }
  /** Executor types in addition to the built-in ones, from `executor`. Default: none. */
  readonly executors?: readonly ExecutorSource[]
  /** States of entities, and the moves between them. Default: none. */
  readonly stateMachines?: readonly StateMachineSource[]
}

const NAME = /^[a-z][a-z0-9_-]{0,63}$/
const DEFAULT_TIMEOUT_MS = 300_000
const HASH_LENGTH = 16

const invalid = (path: string, problem: string): TrihandError =>
  new TrihandError('MANIFEST_INVALID', `${path}: ${problem}`, { place: { path } })

const schemaIn = (given: unknown): unknown => (isEventOptions(given) ? (given.schema ?? null) : given)

const defineEvent = (type: string, whole: unknown, only: HumanOnly | null): EventDefinition => {
  const given = schemaIn(whole)
  if (!isEventType(type))
    throw invalid(`events.${type}`, 'an event type must be lower-case words joined by dots, at most 128 characters')
  if (isReservedType(type))
    throw new TrihandError('EVENT_RESERVED', `${type} has a reserved prefix`, { place: { path: `events.${type}` } })
  if (given === null || given === true) return { type, schema: null, only }
  if (!isSchema(given))
    throw invalid(`events.${type}`, 'expected a schema with the ~standard interface, or null for any data')
  return { type, schema: given, only }
}

const schemaOf = (given: unknown, path: string): Schema | null => {
  if (given === undefined || given === null) return null
  if (!isSchema(given)) throw invalid(path, 'expected a schema with the ~standard interface')
  return given
}

/** What the definition of a function needs from the rest of its system. */
interface Surroundings {
  readonly humanOnly: ReadonlyMap<string, HumanOnly>
  /** The names of declared humans. */
  readonly humans: ReadonlySet<string>
  readonly modules: Modules
  readonly budgets: SharedBudgets
  readonly world: WorkflowWorld
}

/** Humans are exempt: a program that makes a person be asked decides nothing. */
const isInternal = (source: FunctionSource, { humanOnly, humans }: Surroundings): boolean =>
  source.options.internal ??
  (source.modality !== 'human' &&
    triggersOf(source).some(
      (trigger) =>
        ('event' in trigger && reportsDecision(trigger.event, humanOnly.get(trigger.event) ?? null)) ||
        ('after' in trigger && humans.has(trigger.after)),
    ))

/** An agent moves an entity as a function does; everything else it declares is in its own definition. */
const defineWorkflowOf = (
  modality: Modality,
  path: string,
  options: FunctionSource['options'],
  world: Parameters<typeof defineWorkflow>[2],
): WorkflowSpec => {
  if (modality === 'workflow') return defineWorkflow(path, options, world)
  const { stateIn, stateOut, entity, entityKey } = options
  if (modality !== 'agent' || (stateIn === undefined && stateOut === undefined)) return PLAIN
  const moves = { stateIn, stateOut, entity, entityKey }
  return defineWorkflow(
    path,
    Object.fromEntries(Object.entries(moves).filter(([, value]) => value !== undefined)),
    world,
  )
}

const defineFunction = (source: FunctionSource, around: Surroundings): FunctionDefinition => {
  const { modules, budgets, world } = around
  const { name, options, modality = 'workflow' } = source
  const code = codeGiven(source.code)
  const path = `${modality === 'workflow' ? 'function' : modality}s.${name}`
  if (!NAME.test(name)) throw invalid(path, 'a name must begin with a letter and have at most 64 of a-z 0-9 _ -')
  if (modality === 'workflow' && code !== null && typeof code !== 'function')
    throw invalid(path, 'the code of a function must be a function')
  const retry = { ...DEFAULT_RETRY, ...options.retry }
  if (!Number.isInteger(retry.maxAttempts) || retry.maxAttempts < 1)
    throw invalid(`${path}.retry`, 'maxAttempts must be a whole number from 1')
  const module = moduleOf(modules, path, name, options.module)
  const misplaced = modality === 'workflow' ? misplacedCode(code, module) : null
  if (misplaced !== null) throw invalid(path, misplaced)
  const flow = defineFlows(options, ownFlows(source), path, { retry, budgets })
  const declared = { ...world, fanIn: flow?.policies.fanIn ?? null }
  const workflow = defineWorkflowOf(modality, path, options, declared)
  const placement = definePlacement(path, options, module?.name ?? null)
  return {
    name,
    modality,
    code,
    effect: options.effect ?? 'idempotent',
    retry,
    timeoutMs: options.timeout === undefined ? DEFAULT_TIMEOUT_MS : durationMs(options.timeout),
    deadline: {
      startMs: options.deadline?.start === undefined ? null : durationMs(options.deadline.start),
      finishMs: options.deadline?.finish === undefined ? null : durationMs(options.deadline.finish),
    },
    allowReentry: options.allowReentry ?? 0,
    internal: isInternal(source, around),
    cancelOn: defineCancelOn(options.cancelOn, `${path}.cancelOn`),
    input: schemaOf(options.input, `${path}.input`),
    output: schemaOf(options.output, `${path}.output`),
    circuit: defineCircuit(path, name, options.circuit),
    placement: hasCode({ code, workflow, modality }) ? placement : { ...placement, lacksCode: true },
    module,
    workflow,
    constraints: defineConstraints(`${path}.constraints`, options.constraints),
    flow,
  }
}

/** Naming a pool in a function declares the pool. */
const poolsOf = (source: SystemSource, functions: ReadonlyMap<string, FunctionDefinition>): System['pools'] => {
  const declared = source.pools ?? []
  const named = new Set([...functions.values()].flatMap(({ placement }) => placement.pool ?? []))
  for (const { name } of declared) named.delete(name)
  return definePools([...declared, ...[...named].map((name) => ({ name }))])
}

const functionShape = (source: FunctionSource): object => {
  const { trigger: _, input, output, ...options } = source.options
  const schemas = { input: jsonSchemaOrNull(input), output: jsonSchemaOrNull(output) }
  const given = codeGiven(source.code)
  const code = typeof given === 'function' ? String(given) : null
  return { name: source.name, ...options, ...schemas, triggers: triggersOf(source), ...(code !== null && { code }) }
}

const eventShape = ([type, given]: readonly [string, unknown]): readonly unknown[] => {
  const { source, open } = isEventOptions(given) ? given : ({} as EventOptions)
  const about = source === undefined && open === undefined ? [] : [{ source, open }]
  return [type, jsonSchemaOrNull(schemaIn(given)), ...about]
}

/** The text that the hash of a system covers: its declared shape and the text of its functions, without what they import. */
export const shapeOf = (source: SystemSource): string => {
  const { events = {}, functions = [], agents = [], humans = [], executors = [], webhooks = [], tools = [] } = source
  const {
    name,
    open = false,
    pools = [],
    modules = [],
    schedules = [],
    models = {},
    scripts = {},
    limits = {},
    stateMachines = [],
    chats = [],
    queues = [],
  } = source
  const shape = {
    ...{ name, open, pools, modules, schedules, models, scripts, limits, stateMachines, chats },
    ...(queues.length === 0 ? {} : { queues }),
    maxHops: source.maxHops ?? DEFAULT_MAX_HOPS,
    ...{ tz: source.tz ?? null, ...(source.tenancy === undefined ? {} : { tenancy: source.tenancy }) },
    events: Object.entries(events).map(eventShape),
    executors: executors.map(({ type }) => type),
    // Without secrets and code.
    webhooks: webhooks.map(({ name, path, auth, emits }) => ({ name, path, auth, emits })),
    functions: functions.map(functionShape),
    agents: agents.map((agent) => ({ ...functionShape(agentHandler(agent)), spec: agentShape(agent) })),
    humans: humans.map((human) => ({ ...functionShape(humanHandler(human)), spec: humanShape(human) })),
    tools: tools.map(({ name, effect, approval, egress, untrusted }) => ({
      name,
      effect,
      approval,
      egress,
      untrusted,
    })),
  }
  return canonical(JSON.parse(JSON.stringify(shape)) as Json)
}

/** Every handler, whatever its modality. */
const handlersOf = ({ functions = [], agents = [], humans = [] }: SystemSource): readonly FunctionSource[] => [
  ...functions,
  ...agents.flatMap((source) => [source, ...innerAgents(source)]).map(agentHandler),
  ...humans.map(humanHandler),
]

type ChatWorld = Parameters<typeof defineChats>[1]

const chatsOf = (chats: readonly ChatSource[], known: Omit<ChatWorld, 'handlers'>): System['chats'] => {
  const names = chats.map(({ name }) => name)
  return defineChats(chats, { ...known, handlers: handlersIn(known.functions, names) })
}

/** A system including its forged decisions, for callers that report all of them at once. */
export const assemble = (given: SystemSource, digest: (text: string) => string): System => {
  const source = { ...given, agents: asDeciders(given.agents ?? [], given.chats ?? []) }
  const humanOnly = humanOnlyEvents(source)
  const onlyOf = (type: string): HumanOnly | null => humanOnly.get(type) ?? null
  const events = new Map(
    Object.entries(source.events ?? {}).map(([type, given]) => [type, defineEvent(type, given, onlyOf(type))]),
  )
  const sources = handlersOf(source)
  const modules = defineModules(source.modules ?? [])
  const budgets = defineBudgets(source.limits?.shared ?? {})
  const defined = new Map<string, FunctionDefinition>()
  const hands = new Map(sources.map(({ name, modality = 'workflow' }) => [name, modality] as const))
  const machines = defineMachines(source.stateMachines ?? [])
  const world = { fieldsOf: (type: string) => fieldsOf(events.get(type)?.schema ?? null), machines, hands }
  const humans = new Set((source.humans ?? []).map(({ name }) => name))
  const around = { modules, budgets, world, humanOnly, humans }
  for (const entry of sources) {
    if (defined.has(entry.name))
      throw new TrihandError('MANIFEST_DUPLICATE_NAME', `two handlers are named ${entry.name}`)
    const read = { ...entry, options: asReader(entry.options, source.queues ?? []) }
    defined.set(entry.name, defineFunction(read, around))
  }
  const functions = new Map(withShownPlans(defined, digest))
  const { listeners, sources: watched } = bindAll(sources, functions)
  const executors = defineExecutors(source.executors ?? [])
  functions.set(LATER, laterFunction)
  const webhooks = defineWebhooks(source.webhooks ?? [])
  // Naming an event as a trigger or as sent declares it, with any data.
  const sent = [
    ...[...webhooks.values()].map(({ emits }) => emits),
    ...(source.humans ?? []).flatMap(humanEvents),
    ...[...functions.values()].flatMap(eventsSentBy),
  ]
  const awaited = new Set(sources.flatMap(awaitedBy))
  const heard = [...listeners.keys(), ...awaited]
  for (const type of [...heard, ...sent])
    if (!events.has(type)) events.set(type, { type, schema: null, only: onlyOf(type) })
  return {
    name: source.name,
    hash: digest(shapeOf(source)).slice(0, HASH_LENGTH),
    open: source.open ?? false,
    events,
    functions,
    listeners,
    awaited,
    hearsLife: heard.some(isLifecycleType),
    ...{ maxHops: source.maxHops ?? DEFAULT_MAX_HOPS, tenantField: source.tenancy?.identifier ?? null },
    pools: poolsOf(source, functions),
    sources: watched,
    executors,
    chats: chatsOf(source.chats ?? [], { functions, executors, digest }),
    webhooks,
    endpoints: defineEndpoints(source.endpoints ?? []),
    schedules: definedSchedules(source, functions, events),
    queues: defineQueues(source.queues ?? [], sources),
    tools: defineTools(source.tools ?? [], digest),
    models: defineModels(source.models),
    scripts: new Map(Object.entries(source.scripts ?? {})),
    folder: source.folder ?? null,
    findings: source.findings ?? [],
  }
}

export const normalise = (given: SystemSource, digest: (text: string) => string): System => {
  const system = assemble(given, digest)
  const [forgery] = forgeries(system)
  if (forgery !== undefined) throw forgery
  return system
}

/**
 * Declares a system. It is checked here, so that a mistake is reported where it was made.
 *
 * ```ts
 * export const system = defineSystem({
 *   name: 'shop',
 *   events: { 'order.paid': Order },
 *   functions: [fn('ship', { trigger: 'order.paid' }, ship)],
 * })
 * ```
 */
export const defineSystem = (source: SystemSource): SystemSource => {
  normalise(source, (text) => text)
  return source
}
