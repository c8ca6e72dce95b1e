/**
 * A document that describes steps instead of a system: `subtask`, `agent_step`, `human_step` or `workflow_step` at the top level.
 *
 * Owns how it becomes a plan of a manifest. Words that name a type, like `string` or `uuid?`, describe what is to be filled in: they
 * are not values.
 */
import { defined, isRecord, type JsonRecord, listed } from '#manifest/yaml/record.ts'
import type { Json } from '#model/kernel/json.ts'

const TYPE_WORD =
  /^(string|text|integer|number|boolean|json|uuid|enum|timestamp|file_path|event|write_op|zod_schema)(\[\])?\??$/

const filledIn = (value: Json): Json | undefined => {
  if (value === null || (typeof value === 'string' && TYPE_WORD.test(value))) return undefined
  if (Array.isArray(value)) {
    const items = value.map(filledIn).filter((item): item is Json => item !== undefined)
    return items.length === 0 ? undefined : items
  }
  if (!isRecord(value)) return value
  const members = defined(Object.fromEntries(Object.entries(value).map(([key, one]) => [key, filledIn(one)])))
  return Object.keys(members).length === 0 ? undefined : members
}

const recordOf = (value: Json | undefined): JsonRecord => (isRecord(value) ? value : {})

const orNothing = (members: JsonRecord): JsonRecord | undefined =>
  Object.keys(members).length === 0 ? undefined : members

/** The output is described for people only: the engine determines the real one. */
const stepOf = (section: string, given: JsonRecord): JsonRecord => {
  const { name, inputs, output_schema: output, outputs: _, ...own } = recordOf(filledIn(given))
  const { db_lookups: lookups, ...into } = recordOf(inputs)
  const step = { id: section.replace('_', '-'), name: name ?? section.replace('_', ' ') }
  switch (section) {
    case 'agent_step':
      return defined({
        ...step,
        assigned_to: 'agent',
        agent_config: orNothing(defined({ agent_id: own['agent_id'], output_schema: output })),
        inputs: orNothing(into),
      })
    case 'human_step': {
      const { instructions, context, approval_bundle_id: bundle } = into
      return defined({
        ...step,
        assigned_to: 'human',
        human_config: { ...own, ...defined({ instructions, context, approval_bundle_id: bundle }) },
      })
    }
    default:
      return defined({
        ...step,
        assigned_to: 'workflow',
        workflow_config: orNothing(defined({ function_name: own['function_name'], inputs: orNothing(into) })),
        db_lookups: lookups,
      })
  }
}

const SECTIONS = ['agent_step', 'human_step', 'workflow_step'] as const

/** A manifest whose sections replace the steps at the top level; a document without such steps is returned unchanged. */
export const withSteps = (root: JsonRecord): JsonRecord => {
  const { subtask, subtasks, ...rest } = root
  const described = SECTIONS.filter((section) => isRecord(root[section]))
  const steps = [
    ...listed(subtask),
    ...listed(subtasks),
    ...described.map((section) => stepOf(section, root[section] as JsonRecord)),
  ]
  if (steps.length === 0) return root
  const sections = Object.fromEntries(Object.entries(rest).filter(([key]) => !described.includes(key as 'agent_step')))
  const { plans } = sections
  const plan = { name: 'steps', steps }
  return {
    product: { name: 'steps' },
    ...sections,
    plans: isRecord(plans) ? { ...plans, steps: { steps } } : [...listed(plans), plan],
  }
}
