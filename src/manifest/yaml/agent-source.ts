/** An agent of the manifest as the author API has it: contract, config and limits are one set of options there. */
import type { AgentSource } from '#manifest/define/agents.ts'
import type { ModelsSource } from '#manifest/define/models.ts'
import { MANIFEST } from '#manifest/yaml/check/sections.ts'
import type { RecordShape, Shape } from '#manifest/yaml/check/shape.ts'
import { authorForm } from '#manifest/yaml/normalise/author-form.ts'
import type { Json } from '#model/kernel/json.ts'
import { field, type HandlerEntry, type Manifest } from './manifest.ts'
import type { Parts } from './parts.ts'
import { defined, isRecord, type JsonRecord } from './record.ts'
import { eventTriggers, STARTING } from './trigger-source.ts'
import { statesOf } from './workflow-source.ts'

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

export const agentSource = (entry: HandlerEntry, manifest: Manifest, parts: Parts): AgentSource => {
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

export const modelsSource = (manifest: Manifest): ModelsSource => {
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
