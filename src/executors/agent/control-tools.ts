/**
 * Tools without code, which the engine performs instead of a program: a question, a child, a hand-off.
 *
 * Owns their names and the descriptions for the model. They are allowed by name like any other tool.
 */
import type { AgentSpec } from '#model/agent/agent.ts'
import type { Json } from '#model/kernel/json.ts'

export const ASK_HUMAN = 'AskHuman'
export const TASK = 'Task'
export const HANDOFF = 'Handoff'

export interface ControlTool {
  readonly name: string
  readonly description: string
  readonly input: Json
}

const text = (description: string): Json => ({ type: 'string', description })

const askHuman: ControlTool = {
  name: ASK_HUMAN,
  description: 'Asks a person and waits for the answer, which may take days.',
  input: {
    type: 'object',
    properties: {
      question: text('What you need to know, and why.'),
      options: { type: 'array', items: { type: 'string' }, maxItems: 10 },
      schema: { type: 'object', description: 'JSON Schema of the answer, if it is more than text.' },
    },
    required: ['question'],
    additionalProperties: false,
  },
}

const named = (names: readonly { readonly name: string; readonly description: string }[]): string =>
  names.map(({ name, description }) => (description === '' ? name : `${name}: ${description}`)).join('; ')

const taskTool = ({ subagents }: AgentSpec): ControlTool => ({
  name: TASK,
  description: `Gives a part of the work to another agent and waits for its answer. Agents: ${named(subagents)}`,
  input: {
    type: 'object',
    properties: {
      agent: { type: 'string', enum: subagents.map(({ name }) => name) },
      prompt: text('All that the agent needs to know; it sees nothing else.'),
      budget: {
        type: 'object',
        properties: { tokens: { type: 'integer', minimum: 1 }, usd: { type: 'number', minimum: 0 } },
        additionalProperties: false,
      },
    },
    required: ['agent', 'prompt'],
    additionalProperties: false,
  },
})

const handoffTool = ({ handoffs }: AgentSpec): ControlTool => ({
  name: HANDOFF,
  description: 'Leaves the work to another agent for good; its answer becomes yours.',
  input: {
    type: 'object',
    properties: { agent: { type: 'string', enum: handoffs }, prompt: text('What it needs to know to go on.') },
    required: ['agent', 'prompt'],
    additionalProperties: false,
  },
})

/** The tools that make sense for this agent. The allowlist decides whether it may use them. */
export const controlTools = (spec: AgentSpec): ReadonlyMap<string, ControlTool> => {
  const tools = [
    askHuman,
    ...(spec.subagents.length > 0 ? [taskTool(spec)] : []),
    ...(spec.handoffs.length > 0 ? [handoffTool(spec)] : []),
  ]
  return new Map(tools.map((tool) => [tool.name, tool]))
}
