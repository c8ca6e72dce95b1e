/**
 * Converts the humans of a manifest to the author API: those it declares, and those that are only implied by an event.
 *
 * Owns how an event with `source: human` and `after` becomes a person who is asked: several such events become the actions of one task.
 */
import type { HumanSource } from '#manifest/human/humans.ts'
import { MANIFEST } from '#manifest/yaml/check/sections.ts'
import type { RecordShape } from '#manifest/yaml/check/shape.ts'
import { authorForm } from '#manifest/yaml/normalise/author-form.ts'
import type { Json } from '#model/kernel/json.ts'
import { type EventEntry, field, type HandlerEntry, type Manifest } from './manifest.ts'
import { type Parts, schemaFor } from './parts.ts'
import { defined, isRecord, type JsonRecord, recordsIn } from './record.ts'
import { eventTriggers, STARTING } from './trigger-source.ts'

const SHAPE = (MANIFEST.fields['humans'] as { readonly of: RecordShape }).of

const ASKING = [
  'task_type',
  'title',
  'instructions',
  'context',
  'assign',
  'actions',
  'required_fields',
  'deadline',
  'reminders',
  'escalation',
  'quorum',
  'separation',
  'auto_action_on_timeout',
  'priority',
]
/** A person has no run deadline, and a priority with a different meaning. */
const FLOWING = STARTING.filter((key) => key !== 'deadline' && key !== 'priority' && key !== 'circuit')

/** Keys of a human that have an effect in the engine. */
export const HUMAN_KEYS: ReadonlySet<string> = new Set([
  ...FLOWING,
  ...ASKING,
  'name',
  'triggers',
  'bundle',
  'input',
  'output_schema',
])

const schemaOf = (given: Json | undefined, parts: Parts): JsonRecord => {
  const schema = isRecord(given) ? given : schemaFor(given, parts)
  return schema === undefined ? {} : ({ schema } as unknown as JsonRecord)
}

const bundleOf = (given: Json | undefined, parts: Parts): Json | undefined => {
  if (!isRecord(given)) return undefined
  const sections = recordsIn(given['sections']).map(({ schema, ...section }) => ({
    ...section,
    ...schemaOf(schema, parts),
  }))
  return { sections } as Json
}

export const humanSource = (entry: HandlerEntry, manifest: Manifest, parts: Parts): HumanSource => {
  const given = defined(Object.fromEntries([...FLOWING, ...ASKING].map((key) => [key, field(entry, key)])))
  const bundle = bundleOf(field(entry, 'bundle'), parts)
  const { schema: output } = schemaOf(field(entry, 'output_schema'), parts)
  const { schema: input } = schemaOf(field(entry, 'input'), parts)
  const context = field(entry, 'context')
  return {
    name: entry.name,
    options: {
      ...(authorForm(SHAPE, given) as JsonRecord),
      ...defined({ context, bundle, outputSchema: output, input }),
      triggers: eventTriggers(entry, manifest),
    } as HumanSource['options'],
  }
}

const ACTIONS: Readonly<Record<string, string>> = { approved: 'approve', rejected: 'reject', edited: 'edit' }

const actionOf = ({ name, action }: EventEntry): JsonRecord => {
  const last = name.split(/[./]/).at(-1) ?? name
  return { name: action ?? ACTIONS[last] ?? last, emitsEvent: name }
}

/** A name for a person who is only implied by an event. */
const impliedName = (after: string): string => `after-${after.replaceAll(/[./]/g, '-')}`.slice(0, 64)

export const impliedHumans = (manifest: Manifest): readonly HumanSource[] => {
  const groups = new Map<string, EventEntry[]>()
  for (const event of manifest.events.definitions)
    if (event.source === 'human' && event.after !== undefined)
      groups.set(event.after, [...(groups.get(event.after) ?? []), event])
  return [...groups].map(([after, events]) => ({
    name: impliedName(after),
    options: {
      taskType: 'decision',
      triggers: [after],
      actions: events.map(actionOf) as unknown as NonNullable<HumanSource['options']['actions']>,
    },
  }))
}
