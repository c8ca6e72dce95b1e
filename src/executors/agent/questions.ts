/**
 * The tasks for which an agent needs people: approval of a call, a question, a loop.
 *
 * Owns what people are shown and what their answer means. The agent's own words are shown separately and marked as such.
 */
import type { AgentSpec } from '#model/agent/agent.ts'
import type { AgentCall, Decided, WaitKind } from '#model/agent/state.ts'
import type { Json } from '#model/kernel/json.ts'
import { builtInAction } from '#model/task/action.ts'
import type { Section, TaskAction, TaskSpec } from '#model/task/spec.ts'
import type { TaskAnswer } from '#model/task/view.ts'

const CALL = 'call'
const HINT = 'hint'
const ANSWER = 'answer'

const section = (id: string, title: string, content: Json, schema: Json | null): Section => ({
  id,
  type: schema === null ? 'preview' : 'editable',
  title,
  content,
  items: [],
  editable: schema !== null,
  schema,
})

/** What all tasks of an agent have in common. */
export const taskBase = (
  spec: AgentSpec,
  remarks: string | null,
): Omit<TaskSpec, 'type' | 'origin' | 'title' | 'sections' | 'actions'> => ({
  name: spec.name,
  instructions: '',
  context: null,
  remarks,
  priority: 0,
  requester: null,
  levels: [{ to: spec.asks, deadline: null }],
  reminders: null,
  autoAction: null,
  quorum: { approve: 1, reject: 1 },
  excluded: [],
})

const approval = (spec: AgentSpec, { tool, input }: AgentCall, schema: Json, remarks: string | null): TaskSpec => ({
  ...taskBase(spec, remarks),
  type: 'approval',
  origin: 'tool_approval',
  title: `${spec.name} wants to use ${tool}`,
  sections: [section(CALL, tool, input, schema)],
  actions: [builtInAction('approve'), builtInAction('edit'), builtInAction('reject')],
})

const respondWith = (schema: Json): TaskAction => ({
  ...builtInAction('respond'),
  requiredFields: [ANSWER],
  fieldsSchema: { type: 'object', properties: { [ANSWER]: schema }, required: [ANSWER] },
})

const field = (input: Json, name: string): Json | undefined =>
  (input as { readonly [key: string]: Json } | null)?.[name]

const question = (spec: AgentSpec, { input }: AgentCall): TaskSpec => {
  const options = field(input, 'options')
  const asked = String(field(input, 'question') ?? '')
  const plain: Json =
    Array.isArray(options) && options.length > 0 ? { type: 'string', enum: options } : { type: 'string' }
  return {
    ...taskBase(spec, asked),
    type: 'input',
    origin: 'question',
    title: `${spec.name} asks`,
    sections: [section('question', 'Question', asked, null)],
    actions: [respondWith(field(input, 'schema') ?? plain)],
  }
}

const loop = (spec: AgentSpec, { tool, input }: AgentCall): TaskSpec => ({
  ...taskBase(spec, null),
  type: 'decision',
  origin: 'loop',
  title: `${spec.name} repeats itself`,
  instructions: `It has made the same call three times in a row. Let it continue, with an optional hint in the field ${HINT}, or end it.`,
  sections: [section(CALL, tool, input, null)],
  actions: [builtInAction('approve'), builtInAction('reject')],
})

export const questionOf = (
  on: WaitKind,
  spec: AgentSpec,
  call: AgentCall,
  schema: Json,
  remarks: string | null,
): TaskSpec => {
  switch (on) {
    case 'approval':
      return approval(spec, call, schema, remarks)
    case 'question':
      return question(spec, call)
    case 'loop':
      return loop(spec, call)
  }
}

const wordOf = (on: WaitKind, answer: TaskAnswer): Json => {
  switch (on) {
    case 'approval':
      return answer.modifications?.[CALL] ?? null
    case 'question':
      return field(answer.fields, ANSWER) ?? null
    case 'loop':
      return field(answer.fields, HINT) ?? null
  }
}

const YES: ReadonlySet<string> = new Set(['approved', 'completed'])

/** Every answer but a yes is a no: expired and withdrawn tasks too. */
export const decidedOf = (on: WaitKind, answer: TaskAnswer): Decided => ({
  verdict: YES.has(answer.status) ? 'yes' : 'no',
  reason: answer.feedback ?? (YES.has(answer.status) ? null : answer.decision),
  value: wordOf(on, answer),
  by: answer.decidedBy ?? 'system',
  consent: on === 'approval' ? (answer.items.find(({ id }) => id === CALL)?.hash ?? '') : null,
})
