/**
 * Converts a manifest to the value that `defineSystem` takes: from here on the origin of a system makes no difference.
 *
 * Owns which keys the engine uses; the others are kept in the manifest and reported. Code and schemas from files are passed in.
 */

import type { SystemSource } from '#manifest/define/define.ts'
import type { ModelsSource } from '#manifest/define/models.ts'
import { jsonSchema } from '#manifest/schema/ajv-schema.ts'
import { MANIFEST } from '#manifest/yaml/check/sections.ts'
import type { RecordShape, Shape } from '#manifest/yaml/check/shape.ts'
import { authorForm } from '#manifest/yaml/normalise/author-form.ts'
import { payloadSchema } from '#manifest/yaml/parse/payload.ts'
import type { AgentSource } from '#model/agent/source.ts'
import type { Json } from '#model/kernel/json.ts'
import type { PlanSource, PlanStepSource } from '#model/plan/source.ts'
import type { FunctionSource } from '#model/workflow/function-source.ts'
import { humanSource, impliedHumans } from './human-source.ts'
import {
  type EventEntry,
  field,
  type HandlerEntry,
  handlersOf,
  type Manifest,
  type NamedEntry,
  readsQueue,
  sentBy,
} from './manifest.ts'
import { type Parts, schemaFor } from './parts.ts'
import { defined, isRecord, type JsonRecord, listed } from './record.ts'
import { eventTriggers, STARTING } from './trigger-source.ts'
import { machinesSource, statesOf, WORKFLOW_KEYS, workflowSource } from './workflow-source.ts'

// An agent of the manifest in the form of the author API: contract, config and limits are one set of options there.

const SHAPE = (MANIFEST.fields['agents'] as { readonly of: RecordShape }).of
const MODELS = (MANIFEST.fields['defaults'] as RecordShape).fields['models'] as Shape
const PRICES = MANIFEST.fields['prices'] as Shape
const MS = 1_000

const part = (entry: HandlerEntry, key: string): JsonRecord => {
  const value = field(entry, key)
  return isRecord(value) ? (authorForm(SHAPE.fields[key] as RecordShape, value) as JsonRecord) : {}
}

const limitsOf = (entry: HandlerEntry): JsonRecord => {
  const { timeoutSeconds, ...limits } = part(entry, 'limits')
  const retry = field(entry, 'retry')
  const attempts = isRecord(retry) ? retry['max_attempts'] : undefined
  return defined({
    ...limits,
    timeout: typeof timeoutSeconds === 'number' ? timeoutSeconds * MS : field(entry, 'timeout'),
    maxRetries: typeof attempts === 'number' ? attempts - 1 : undefined,
  })
}

const schemaOf = (given: Json | undefined, parts: Parts): unknown =>
  typeof given === 'string' ? parts.schemas?.get(given) : given

const agentSource = (entry: HandlerEntry, manifest: Manifest, parts: Parts): AgentSource => {
  const { contextIn, contextOut, outputSchema: inContract } = part(entry, 'contract')
  const output = schemaOf(inContract ?? field(entry, 'output_schema') ?? field(entry, 'output'), parts)
  const input = schemaOf(field(entry, 'input'), parts)
  const artifacts = isRecord(contextOut) ? contextOut['artifacts'] : undefined
  const starting = authorForm(
    SHAPE,
    defined(Object.fromEntries(STARTING.map((key) => [key, field(entry, key)]))),
  ) as JsonRecord
  const limits = limitsOf(entry)
  const { state_in: stateIn, state_out: stateOut } = statesOf(entry, manifest)
  return {
    name: entry.name,
    options: {
      ...starting,
      ...part(entry, 'config'),
      ...defined({
        ...{ stateIn, stateOut },
        entity: field(entry, 'entity'),
        entityKey: field(entry, 'entity_key'),
        description: field(entry, 'description'),
        instructions: field(entry, 'instructions'),
        prompt: field(entry, 'prompt'),
        contextIn,
        artifacts,
        escalationRules: authorForm(
          SHAPE.fields['escalation_rules'] as RecordShape,
          field(entry, 'escalation_rules') ?? [],
        ),
        emits: authorForm(SHAPE.fields['emits'] as RecordShape, (entry.emits ?? []) as Json),
      }),
      ...(Object.keys(limits).length === 0 ? {} : { limits }),
      ...(field(entry, 'workspace') === undefined ? {} : { workspace: part(entry, 'workspace') }),
      ...(output === undefined || output === null ? {} : { outputSchema: output }),
      ...(input === undefined || input === null ? {} : { input }),
      triggers: eventTriggers(entry, manifest),
    } as AgentSource['options'],
  }
}

const modelsSource = (manifest: Manifest): ModelsSource => {
  const { model, models } = manifest.defaults ?? {}
  const prices = manifest['prices']
  return {
    ...(typeof model === 'string' ? { default: model } : {}),
    ...(isRecord(models) ? { aliases: authorForm(MODELS, models) as NonNullable<ModelsSource['aliases']> } : {}),
    ...(isRecord(prices)
      ? { prices: authorForm(PRICES, prices) as unknown as NonNullable<ModelsSource['prices']> }
      : {}),
  }
}

type SharedBudgets = NonNullable<NonNullable<SystemSource['limits']>['shared']>

const entryShape = (section: string): RecordShape => {
  const shape = MANIFEST.fields[section] as { readonly of: RecordShape }
  return shape.of
}

/** The keys that make a function a plan. */
const PLANNED = ['goal', 'text', 'steps', 'approve']

/** Keys of a function that have an effect in the engine. */
export const FUNCTION_KEYS: ReadonlySet<string> = new Set([
  ...STARTING,
  ...WORKFLOW_KEYS,
  'name',
  'triggers',
  'waits',
  'pattern',
  'retry',
  'timeout',
  'effect',
  'handler',
  'input',
  'output',
  'schema',
  'output_schema',
  'source',
])

/** Keys of a plan that have an effect in the engine. */
export const PLAN_KEYS: ReadonlySet<string> = new Set([
  ...STARTING,
  ...WORKFLOW_KEYS,
  ...PLANNED,
  'name',
  'triggers',
  'waits',
  'retry',
  'input',
  'output_schema',
])

/** Keys of an agent that have an effect in the engine. */
export const AGENT_KEYS: ReadonlySet<string> = new Set([
  ...STARTING,
  'entity',
  'entity_key',
  'state_in',
  'state_out',
  'name',
  'triggers',
  'emits',
  'retry',
  'timeout',
  'prompt',
  'instructions',
  'contract',
  'config',
  'limits',
  'workspace',
  'escalation_rules',
  'input',
  'output',
  'output_schema',
])

const pick = (entry: HandlerEntry | NamedEntry, keys: Iterable<string>): JsonRecord =>
  defined(Object.fromEntries([...keys].map((key) => [key, field(entry, key)])))

/** For events that only people send, the source is passed on; for others only the schema of their data. */
const eventOptions = (event: EventEntry, parts: Parts): unknown => {
  const schema = eventSchema(event, parts)
  if (event.source !== 'human' && event.open === undefined) return schema
  return { schema, ...defined({ source: event.source, open: event.open }) }
}

const eventSchema = (event: EventEntry, parts: Parts): unknown => {
  if (event.schema !== undefined) return schemaFor(event.schema, parts) ?? null
  if (event.payload === undefined || event.payload === null) return null
  return jsonSchema(payloadSchema(event.payload, event.additional ?? true, [], () => undefined))
}

/** Sending an event declares it, with any data. */
const eventsSource = (manifest: Manifest, parts: Parts): Readonly<Record<string, unknown>> => {
  const declared = manifest.events.definitions.map((event) => [event.name, eventOptions(event, parts)] as const)
  const known = new Set(declared.map(([name]) => name))
  const sent = handlersOf(manifest).flatMap(({ section, handler }) =>
    sentBy(section, handler).map(({ event }) => event),
  )
  const implied = [...new Set(sent)].filter((name) => !known.has(name))
  return Object.fromEntries([...declared, ...implied.map((name) => [name, null] as const)])
}

/** A value that `fn(name, options, code)` returned in a file: its options count where the manifest has none. */
const madeByFn = (value: unknown): FunctionSource | null =>
  typeof value === 'object' && value !== null && 'options' in value && 'code' in value
    ? (value as unknown as FunctionSource)
    : null

const functionSource = (entry: HandlerEntry, manifest: Manifest, parts: Parts): FunctionSource => {
  const { retry } = manifest.defaults ?? {}
  const options = authorForm(entryShape('functions'), {
    ...(retry === undefined ? {} : { retry }),
    ...pick(entry, [
      ...STARTING,
      'waits',
      'retry',
      'timeout',
      'effect',
      ...(readsQueue(entry) === null ? [] : ['source']),
    ]),
  }) as JsonRecord
  const declared = workflowSource(entry, manifest)
  const given = parts.code?.get(entry.name)
  const made = madeByFn(given)
  const input = schemaFor(field(entry, 'input'), parts)
  const output = schemaFor(field(entry, 'output_schema') ?? field(entry, 'output') ?? field(entry, 'schema'), parts)
  return {
    name: entry.name,
    options: {
      ...made?.options,
      ...options,
      ...declared,
      triggers: eventTriggers(entry, manifest),
      ...(input === undefined ? {} : { input }),
      ...(output === undefined ? {} : { output }),
    } as FunctionSource['options'],
    code: made === null ? (given ?? null) : made.code,
  }
}

const schemaOfStep = (given: unknown, parts: Parts): { readonly outputSchema?: unknown } => {
  const schema = typeof given === 'string' ? parts.schemas?.get(given) : given
  return schema === undefined || schema === null ? {} : { outputSchema: schema }
}

/** A schema that is only in a file is unknown while nothing may be executed. */
const stepOf = ({ outputSchema, agentConfig, ...step }: PlanStepSource, parts: Parts): PlanStepSource => {
  if (agentConfig === undefined) return { ...step, ...schemaOfStep(outputSchema, parts) }
  const { outputSchema: ofAgent, ...config } = agentConfig
  return {
    ...step,
    ...schemaOfStep(outputSchema, parts),
    agentConfig: { ...config, ...schemaOfStep(ofAgent, parts) },
  }
}

export const planOf = (entry: HandlerEntry, parts: Parts = {}): PlanSource => {
  const { steps, ...plan } = authorForm(entryShape('plans'), pick(entry, PLANNED)) as unknown as PlanSource
  return steps === undefined ? plan : { ...plan, steps: steps.map((step) => stepOf(step, parts)) }
}

/** A plan is a function that performs steps. */
const planSource = (entry: HandlerEntry, manifest: Manifest, parts: Parts): FunctionSource => {
  const source = functionSource(entry, manifest, parts)
  return { ...source, options: { ...source.options, plan: planOf(entry, parts) }, code: null }
}

const listOf = <Source>(section: string, entries: readonly NamedEntry[] = []): readonly Source[] =>
  entries.map((entry) => authorForm(entryShape(section), entry as Json) as unknown as Source)

/** All handlers are started the same way, whatever their modality. */
const scheduleSource = ({ agent, plan = agent, ...entry }: NamedEntry): NamedEntry =>
  (plan === undefined ? entry : { ...entry, function: plan }) as NamedEntry

const WEBHOOK_KEYS = ['name', 'auth', 'scheme', 'secret', 'emits', 'unsigned', 'header', 'id_header']

/** A foreign path belongs to the gateway in front, which forwards deliveries to our path. */
const servedPath = (entry: NamedEntry): JsonRecord => {
  const path = field(entry, 'path')
  return typeof path === 'string' && path.startsWith('/hooks/') ? { path } : {}
}

/** The sender is not authenticated: reported by the check, refused when it is served. */
export const isUnsigned = (entry: NamedEntry): boolean =>
  entry['unsigned'] !== true && listed(field(entry, 'secret')).every((secret) => secret === '')

const webhookSource = (entry: NamedEntry, parts: Parts): unknown => {
  const transform = field(entry, 'transform')
  const code = parts.transforms?.get(entry.name)
  return {
    ...(authorForm(entryShape('webhooks'), pick(entry, WEBHOOK_KEYS)) as JsonRecord),
    ...servedPath(entry),
    ...(isUnsigned(entry) ? { secret: null } : {}),
    ...(code === undefined ? {} : { transform: code }),
    ...(code === undefined && transform !== undefined && typeof transform === 'object' ? { transform } : {}),
  }
}

const executorSources = (manifest: Manifest, parts: Parts): NonNullable<SystemSource['executors']> =>
  (manifest.executors ?? []).flatMap(({ name, url, secret }) => {
    if (typeof url === 'string') return { type: name, url, secret: typeof secret === 'string' ? secret : '' }
    const performer = parts.executors?.get(name)
    return performer === undefined ? [] : { type: name, performer }
  })

const tenancySource = (manifest: Manifest): Pick<SystemSource, 'tenancy'> => {
  const tenancy = manifest['tenancy']
  if (!isRecord(tenancy) || tenancy['enabled'] === false || typeof tenancy['identifier'] !== 'string') return {}
  return { tenancy: { identifier: tenancy['identifier'] } }
}

export const sourceOf = (manifest: Manifest, parts: Parts = {}): SystemSource => {
  const { limits, defaults } = manifest as { limits?: JsonRecord; defaults?: JsonRecord }
  const tz = defaults?.['tz'] ?? manifest.product.tz
  const machines = machinesSource(manifest)
  const schedules = (manifest.schedules ?? []).filter((entry) => entry['prompt'] === undefined)
  return {
    name: manifest.product.name,
    events: eventsSource(manifest, parts),
    functions: [
      ...(manifest.functions ?? []).map((entry) => functionSource(entry, manifest, parts)),
      ...(manifest.plans ?? []).map((entry) => planSource(entry, manifest, parts)),
    ],
    agents: (manifest.agents ?? []).map((entry) => agentSource(entry, manifest, parts)),
    humans: [
      ...(manifest.humans ?? []).map((entry) => humanSource(entry, manifest, parts)),
      ...impliedHumans(manifest),
    ],
    models: modelsSource(manifest),
    ...(manifest.executors === undefined ? {} : { executors: executorSources(manifest, parts) }),
    webhooks: (manifest.webhooks ?? [])
      .filter(({ emits }) => emits !== undefined)
      .map((entry) => webhookSource(entry, parts)) as NonNullable<SystemSource['webhooks']>,
    ...(manifest.endpoints === undefined ? {} : { endpoints: listOf('endpoints', manifest.endpoints) }),
    ...(manifest.chats === undefined ? {} : { chats: listOf('chats', manifest.chats) }),
    ...tenancySource(manifest),
    pools: listOf('pools', manifest.pools),
    modules: listOf('modules', manifest.modules),
    schedules: listOf('schedules', schedules.map(scheduleSource)),
    ...(manifest.queues === undefined ? {} : { queues: listOf('queues', manifest.queues) }),
    ...(manifest.events.open === undefined ? {} : { open: manifest.events.open }),
    ...(typeof limits?.['max_hops'] === 'number' ? { maxHops: limits['max_hops'] } : {}),
    ...(limits?.['shared'] === undefined ? {} : { limits: { shared: limits['shared'] as unknown as SharedBudgets } }),
    ...(typeof tz === 'string' ? { tz } : {}),
    ...(machines.length === 0 ? {} : { stateMachines: machines }),
    ...(parts.scripts === undefined ? {} : { scripts: parts.scripts }),
  }
}
