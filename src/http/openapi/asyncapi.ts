/**
 * The events of a system as an AsyncAPI 3.0 document: one channel per type, with its receivers and senders.
 *
 * Owns the translation. A schema that cannot be exported as JSON Schema is left out; its event is listed all the same.
 */
import type { EventDefinition, System } from '#manifest/define/system.ts'
import { graphOfSystem } from '#manifest/define/system-graph.ts'
import { jsonSchemaOf } from '#manifest/schema/json-schema.ts'
import { TrihandError } from '#model/kernel/errors.ts'
import type { Json } from '#model/kernel/json.ts'

type Document = { readonly [key: string]: Json }

/** Keys of maps allow fewer characters than event types do. */
const keyOf = (type: string): string => type.replaceAll(/[^\w.-]/g, (letter) => `_${letter.codePointAt(0)}_`)

const payloadOf = ({ type, schema }: EventDefinition): Document => {
  if (schema === null) return {}
  try {
    return { payload: jsonSchemaOf(schema, `events.${type}`) }
  } catch (error) {
    if (error instanceof TrihandError && error.code === 'SCHEMA_NOT_EXPORTABLE') return {}
    throw error
  }
}

const typesOf = (system: System): ReadonlyMap<string, EventDefinition> => {
  const types = new Map(system.events)
  for (const type of [...system.listeners.keys(), ...system.awaited])
    if (!types.has(type)) types.set(type, { type, schema: null, only: null })
  return types
}

const sentBy = (system: System): ReadonlySet<string> => {
  const { nodes, edges } = graphOfSystem(system)
  const events = new Map(nodes.filter(({ kind }) => kind === 'event').map(({ id, name }) => [id, name]))
  return new Set(edges.filter(({ kind }) => kind === 'sends').flatMap(({ to }) => events.get(to) ?? []))
}

export const asyncApi = (system: System, version: string): Document => {
  const types = [...typesOf(system).values()]
  const sent = sentBy(system)
  const operationOf = (action: 'receive' | 'send', type: string): [string, Document] => [
    `${action}-${keyOf(type)}`,
    { action, channel: { $ref: `#/channels/${keyOf(type)}` } },
  ]
  const heard = types.filter(({ type }) => system.listeners.has(type) || system.awaited.has(type))
  const told = types.filter(({ type }) => sent.has(type))
  return {
    asyncapi: '3.0.0',
    info: { title: system.name, version, 'x-trihand-hash': system.hash },
    defaultContentType: 'application/json',
    channels: Object.fromEntries(
      types.map((definition) => [
        keyOf(definition.type),
        { address: definition.type, messages: { event: { name: definition.type, ...payloadOf(definition) } } },
      ]),
    ),
    operations: Object.fromEntries([
      ...heard.map(({ type }) => operationOf('receive', type)),
      ...told.map(({ type }) => operationOf('send', type)),
    ]),
  }
}
