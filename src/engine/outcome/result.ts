/**
 * The result of a run for its callers: its end with output and outcome, or its current status.
 *
 * Owns the answer only. Waiting for the end is core/engine.ts.
 */
import { failureOf, noSuchRun, queuedRun } from '#engine/coordinators/flow-outcomes.ts'
import type { EngineContext } from '#engine/core/engine-context.ts'
import { fetchValue } from '#engine/core/payloads.ts'
import { readRunFact } from '#model/kernel/fact-codec.ts'
import type { RunId } from '#model/kernel/ids.ts'
import { isJsonRecord, type Json } from '#model/kernel/json.ts'
import { fold } from '#model/kernel/machine.ts'
import type { Modality } from '#model/kernel/modality.ts'
import type { EndedRun, LiveRun, RunFact } from '#model/run/fact.ts'
import { type AgentOutcome, humanOutcomeIn, type LeftFile, type Outcome, type TokenUsage } from '#model/run/outcome.ts'
import { run as runMachine } from '#model/run/run.ts'
import type { RunStatus } from '#model/run/status.ts'
import { filesStepOf } from './artifacts.ts'

/*
 * The outcome of a run that has ended, from its facts.
 * Owns where each part is found. The names of the parts are model/run/outcome.ts; nothing is stored twice.
 */

type Deps = Pick<EngineContext, 'blobs' | 'ids'>

interface Ended {
  readonly modality: Modality
  readonly state: EndedRun
  readonly facts: readonly RunFact[]
  readonly output: Json
}

const MODEL_STEP = 'agent/model['

const numberAt = (value: Json | undefined, name: string): number => {
  const found = value !== undefined && isJsonRecord(value) ? value[name] : undefined
  return typeof found === 'number' ? found : 0
}

const tokensOf = async (deps: Deps, facts: readonly RunFact[]): Promise<TokenUsage> => {
  const replies = facts
    .filter((fact) => fact.type === 'step.completed')
    .filter(({ step }) => step.startsWith(MODEL_STEP))
  const used = await Promise.all(
    replies.map(async ({ result }) => {
      const record = await fetchValue(deps, result)
      const reply = isJsonRecord(record) ? record['reply'] : undefined
      return reply !== undefined && isJsonRecord(reply) ? reply['usage'] : undefined
    }),
  )
  const sum = (name: string): number => used.reduce<number>((total, one) => total + numberAt(one, name), 0)
  return { inputTokens: sum('input'), outputTokens: sum('output') }
}

const filesOf = async (deps: Deps, live: LiveRun): Promise<readonly LeftFile[]> => {
  const step = filesStepOf(live)
  if (step?.kind !== 'done') return []
  const { artifacts } = (await fetchValue(deps, step.result)) as unknown as { readonly artifacts: readonly LeftFile[] }
  return artifacts.map(({ path, hash }) => ({ path, hash }))
}

/** A child agent and a chat turn return more than their answer (executors/agent/enter.ts). */
const answerIn = (output: Json): Json =>
  isJsonRecord(output) && 'spent' in output && 'tainted' in output ? (output['output'] ?? null) : output

const agentOutcome = async (deps: Deps, ended: Ended, durationMs: number): Promise<AgentOutcome> => ({
  structuredOutput: answerIn(ended.output),
  artifacts: await filesOf(deps, ended.state.last),
  tokenUsage: await tokensOf(deps, ended.facts),
  durationMs,
})

/** Null: the run has not succeeded, fully or partly, so there is no outcome. */
const outcomeOf = async (deps: Deps, ended: Ended): Promise<Outcome | null> => {
  const { modality, state, facts, output } = ended
  const done = facts.findLast((fact) => fact.type === 'run.completed')
  if (done === undefined || (state.status !== 'success' && state.status !== 'partial')) return null
  const durationMs = done.at - (state.last.startedAt ?? done.at)
  if (modality === 'human') return humanOutcomeIn(output, done.at)
  if (modality === 'agent') return agentOutcome(deps, ended, durationMs)
  return { result: output, emittedEvents: done.events ?? [], dbWrites: done.writes ?? [], durationMs }
}

/** What has become of a run: its end, or its status so far. */
export interface RunResult {
  /** The run. */
  readonly run: RunId
  /** Its status: `success`, `partial`, `failed`, `cancelled`, `expired`, `quarantined`, or one of a run that has not ended. */
  readonly status: RunStatus
  /** What its handler returned; null: it has not ended well, or returned nothing. */
  readonly output: Json | null
  /** Why it did not end well; null: it has not failed. */
  readonly error: { readonly code: string; readonly message: string } | null
  /** The output with its metadata, in the terms of the run's modality; null: the run has not succeeded, fully or partly. */
  readonly outcome: Outcome | null
}

const NOTHING = { output: null, error: null, outcome: null } as const

/** Returns the run's result, or its current status if it has not ended. */
export const lookAtRun = async (context: EngineContext, run: RunId): Promise<RunResult> => {
  const [record] = await context.ledger.load([run])
  if (record == null) return lookAtQueued(context, run)
  if (record.tenant !== context.tenant) throw noSuchRun(run)
  const { broken, handler, status } = record
  if (broken !== undefined) return { ...NOTHING, run, status, error: { code: 'FACT_BROKEN', message: broken } }
  const facts = record.facts.map(readRunFact)
  const state = fold(runMachine, facts)
  if (state.kind !== 'ended') return { ...NOTHING, run, status }
  const output = state.output === null ? null : await fetchValue(context, state.output)
  const modality = context.system().functions.get(handler)?.modality ?? 'workflow'
  const outcome = await outcomeOf(context, { modality, state, facts, output })
  return { run, status: state.status, output, error: state.error, outcome }
}

const lookAtQueued = async (context: EngineContext, run: RunId): Promise<RunResult> => {
  const queued = await queuedRun(context, run)
  if (queued?.state === 'queued') return { ...NOTHING, run, status: 'queued' }
  if (queued !== null) return { ...NOTHING, run, status: 'cancelled', error: failureOf(queued) }
  // The run may have begun between the two reads.
  const [record] = await context.ledger.load([run], { after: Number.MAX_SAFE_INTEGER })
  if (record == null) throw noSuchRun(run)
  return lookAtRun(context, run)
}
