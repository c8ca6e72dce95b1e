/**
 * How an agent is entered and how it ends: its end becomes the run's.
 *
 * Owns what is sent when it ends and what a parent receives. The work itself is agent.ts.
 */

import type { Module } from '#model/access/module.ts'
import type { AgentEmit, AgentSpec } from '#model/agent/agent.ts'
import { repliesOf, usageOf } from '#model/agent/turn.ts'
import { chatCallOf } from '#model/chat/call.ts'
import { emitData } from '#model/event/emits.ts'
import { TrihandError } from '#model/kernel/errors.ts'
import type { Json } from '#model/kernel/json.ts'
import { tokenUsageMembers } from '#model/run/outcome.ts'
import { partial } from '#model/run/partial.ts'
import { stepAddress } from '#model/run/step.ts'
import type { EmittedEvent, Entry } from '#ports/step-port.ts'
import { AgentWork, type Ended } from './agent.ts'
import type { ChildAnswer } from './children.ts'
import type { AgentDeps } from './deps.ts'
import { escalate } from './escalate.ts'
import { childCallOf } from './scope.ts'

export interface AgentHandler {
  readonly name: string
  readonly code: unknown
  readonly module: Module | null
}

const isMeant = ({ on }: AgentEmit, status: Ended['end']['status']): boolean => {
  if (on === 'always') return true
  if (status === 'failed') return on === 'failure'
  return on === 'success' || on === status
}

/** If a condition cannot be evaluated, the sending fails, and with it the run: the answer that was paid for stays in its steps. */
const holds = ({ when, event }: AgentEmit, roots: { readonly [root: string]: Json }, deps: AgentDeps): boolean => {
  if (when === null) return true
  const answer = deps.ask(when, roots)
  if (answer.kind === 'error') throw new TrihandError('EXPR_FAILED', `emits ${event}: ${answer.detail}`)
  return answer.value === true
}

const eventsOf = (spec: AgentSpec, { end }: Ended, input: Json, deps: AgentDeps): readonly EmittedEvent[] => {
  const error: Json = end.code === null ? null : { code: end.code, message: end.detail }
  const roots = { output: end.output, payload: input, error }
  const usual = (event: string): Json =>
    end.status === 'failed' ? { error } : emitData({ data: null, fields: deps.fieldsOf(event) }, roots)
  return spec.emits
    .filter((emit) => isMeant(emit, end.status) && holds(emit, roots, deps))
    .map(({ event, data }) => ({
      type: event,
      data: data === null ? usual(event) : deps.fill(data, roots),
      subject: null,
    }))
}

const cleanUp = async (spec: AgentSpec, { end, state }: Ended, entry: Entry, deps: AgentDeps): Promise<void> => {
  const { cleanup } = spec.workspace
  if (spec.backend !== null) await deps.backend(spec.backend).forget(entry.run)
  if (state.files.size + state.outcomes.size === 0) return
  if (cleanup === 'on_complete' || (cleanup === 'on_success' && end.status === 'success'))
    await deps.workspaces.remove(entry.run)
}

/** A caller that passes a scope or a conversation receives more than the output. */
const answerOf = ({ end, state }: Ended, input: Json): Json => {
  if (childCallOf(input) === null && chatCallOf(input) === null) return end.output
  const answer: ChildAnswer = {
    output: end.output,
    status: end.status === 'partial' ? 'partial' : 'success',
    spent: state.spent,
    tainted: state.isTainted,
    simulated: repliesOf(state).some((reply) => reply.isSimulated),
  }
  return answer as unknown as Json
}

const filesOf = ({ artifacts }: AgentSpec, { files }: Ended['state']): Json =>
  artifacts.flatMap(({ file }) => {
    const left = files.get(file)
    return left === undefined ? [] : [{ path: left.path, hash: left.hash }]
  })

/** What the run reports about its end. The output in it is the child's own, without the envelope that its parent receives. */
const reportOf = (spec: AgentSpec, { end, state }: Ended): { readonly [name: string]: Json } => {
  const { input, output } = usageOf(state)
  return {
    ...(end.status === 'failed' || end.status === 'cancelled'
      ? {}
      : { structured_output: end.output, artifacts: filesOf(spec, state) }),
    token_usage: tokenUsageMembers({ inputTokens: input, outputTokens: output }),
    cost: { micros: state.spent.micros, estimated: state.spent.isEstimated, unknown_calls: state.unknown },
    model_used: repliesOf(state).at(-1)?.modelUsed ?? null,
    active_ms: state.activeMs,
    simulated: repliesOf(state).some((reply) => reply.isSimulated),
  }
}

export const enterAgent =
  (deps: AgentDeps) =>
  async (entry: Entry, handler: AgentHandler): Promise<unknown> => {
    const spec = handler.code as AgentSpec
    const worked = await new AgentWork({ spec, module: handler.module, entry }, deps).run()
    const ended = await escalate(worked, spec, entry, deps)
    const { end } = ended
    entry.report(reportOf(spec, ended))
    const events = eventsOf(spec, ended, entry.input, deps)
    await cleanUp(spec, ended, entry, deps)
    if (end.status === 'failed' || end.status === 'cancelled') {
      // The run fails, so events sent with its result would be lost: they are sent by a step.
      if (events.length > 0)
        await entry.gate.emit(stepAddress('agent/emit', entry.life === 0 ? null : String(entry.life)), events)
      throw new TrihandError(end.code ?? 'INTERNAL', end.detail ?? 'the agent has failed')
    }
    for (const event of events) entry.emit(event)
    const answer = answerOf(ended, entry.input)
    return end.status === 'partial' ? partial(answer) : answer
  }
