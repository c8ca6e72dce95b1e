/**
 * Passes an agent's answer to a person, because a declared rule says so or could not be evaluated.
 *
 * Owns what a rule may read, what the person is shown, and how their decision changes the answer. The decision to escalate is
 * model/flow/policies/escalation.ts. The run stays the same; only the executor changes.
 */
import type { AgentSpec } from '#model/agent/agent.ts'
import { type End, repliesOf, usageOf } from '#model/agent/turn.ts'
import { confidenceOf, type Escalation, escalationOf } from '#model/flow/policies/escalation.ts'
import { isJsonRecord, type Json } from '#model/kernel/json.ts'
import { stepAddress } from '#model/run/step.ts'
import { builtInAction } from '#model/task/action.ts'
import type { Assignees, TaskSpec } from '#model/task/spec.ts'
import type { TaskAnswer } from '#model/task/view.ts'
import type { Entry } from '#ports/step-port.ts'
import type { Ended } from './agent.ts'
import type { AgentDeps } from './deps.ts'
import { taskBase } from './questions.ts'

const STEP = stepAddress('agent/escalate', null)
const OUTPUT = 'output'
const ADDRESS = /^(user|group):(.+)$/

/** An invalid confidence is left out: a rule that reads it fails, and so escalates. */
const agentRoot = ({ end, state }: Ended, confidence: number | null, attempts: number): Json => {
  const { input, output } = usageOf(state)
  return {
    output: end.output,
    status: end.status,
    attempts,
    model_used: repliesOf(state).at(-1)?.modelUsed ?? null,
    usage: { input_tokens: input, output_tokens: output },
    ...(confidence === null ? {} : { confidence }),
  }
}

const findIn = (ended: Ended, spec: AgentSpec, entry: Entry, deps: AgentDeps): Escalation | null => {
  const { output } = ended.end
  const confidence = confidenceOf(isJsonRecord(output) ? output['confidence'] : undefined, spec.confidenceScale)
  const roots = { agent: agentRoot(ended, confidence, entry.attempt), output, payload: entry.input }
  const answers = spec.escalationRules.map(({ condition }) => deps.ask(condition, roots))
  return escalationOf(spec.escalationRules, answers, confidence)
}

/** Null: the target is not people but a handler of this name. */
const peopleOf = (to: string, { asks }: AgentSpec): Assignees | null => {
  if (to === 'human') return asks
  const [, kind, name] = ADDRESS.exec(to) ?? []
  if (name === undefined) return null
  return kind === 'user' ? { users: [name], groups: [] } : { users: [], groups: [name] }
}

/** The person may accept the answer, change it within its schema, or reject it. */
const taskOf = (spec: AgentSpec, to: Assignees, { end }: Ended, reason: string, input: Json): TaskSpec => ({
  ...taskBase(spec, null),
  type: 'review',
  origin: 'escalation',
  title: `${spec.name} is not sure`,
  instructions: reason,
  context: input,
  levels: [{ to, deadline: null }],
  sections: [
    {
      id: OUTPUT,
      type: 'editable',
      title: 'Answer',
      content: end.output,
      items: [],
      editable: true,
      schema: spec.output,
    },
  ],
  actions: (['approve', 'edit', 'reject', 'reassign'] as const).map(builtInAction),
})

const decided = ({ end }: Ended, { status, modifications, decidedBy, feedback }: TaskAnswer): End => {
  if (status === 'approved') return { ...end, output: modifications?.[OUTPUT] ?? end.output }
  const detail = `${decidedBy ?? 'no person'} did not accept the answer: ${feedback ?? status}`
  return { ...end, status: 'failed', code: 'STEP_REFUSED', detail }
}

/** Another handler's answer replaces the agent's, if it fits the schema. */
const handed = ({ end }: Ended, output: Json, spec: AgentSpec, deps: AgentDeps): End => {
  const [issue] = spec.output === null ? [] : deps.check(spec.output, output)
  if (issue === undefined) return { ...end, output }
  return { ...end, status: 'failed', code: 'OUTPUT_INVALID', detail: `after the escalation: ${issue}` }
}

export const escalate = async (ended: Ended, spec: AgentSpec, entry: Entry, deps: AgentDeps): Promise<Ended> => {
  const { end } = ended
  if (end.status !== 'success' && end.status !== 'partial') return ended
  const found = findIn(ended, spec, entry, deps)
  if (found === null) return ended
  const to = peopleOf(found.to, spec)
  const reports = {
    type: 'agent.escalated',
    data: { rule: spec.escalationRules[found.rule]?.condition ?? null, reason: found.reason, to: found.to },
  }
  const ask = async (step: string): Promise<End> => {
    if (to !== null)
      return decided(
        ended,
        await entry.gate.ask(step, { spec: taskOf(spec, to, ended, found.reason, entry.input), reports }),
      )
    const question = { agent: spec.name, reason: found.reason, output: end.output, input: entry.input }
    return handed(ended, await entry.gate.invoke(step, found.to, question, { reports }), spec, deps)
  }
  return { ...ended, end: await acceptedOf(ask, entry) }
}

/** After a retry, an answer that was not accepted is asked about again; an accepted one stays accepted. */
const acceptedOf = async (ask: (step: string) => Promise<End>, { gate, life }: Entry): Promise<End> => {
  for (let before = 0; before < life; before++) {
    const step = stepOf(before)
    if (gate.stateOf(step) !== 'settled') continue
    const end = await ask(step)
    if (end.status !== 'failed') return end
  }
  return ask(stepOf(life))
}

const stepOf = (life: number): string => stepAddress(STEP, life === 0 ? null : String(life))
