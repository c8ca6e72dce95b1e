/**
 * One run, whole: what it is, what it waits for, its children, its end and its facts.
 *
 * Owns the reading of a run for people. Asks the same rules that drive the run, so that a page never has its own idea of a wait.
 */

import type { QueuedReason } from '../model/flow-outcome.ts'
import type { RunId } from '../model/ids.ts'
import { run as runMachine } from '../model/run.ts'
import type { LiveRun, RunState } from '../model/run-fact.ts'
import { isEnded } from '../model/status.ts'
import { stepWakeAt } from '../model/step.ts'
import type { RunSummary } from '../ports/reader.ts'
import type { Fact, RunDetail, RunWhy, WaitingOn } from './api.ts'
import { allFacts } from './facts.ts'
import { type Page, pageOf } from './query.ts'
import type { Service } from './service.ts'
import { factDocument, runDocument } from './wire.ts'
import { isoTimeOrNull } from './wire-time.ts'
import { tellOpen } from './words.ts'

const FIRST_FACTS = 200

export const factPage = async (
  { reader, tenant }: Service,
  run: RunId,
  from: number,
  limit: number,
): Promise<Page<Fact>> => {
  const facts = await reader.facts(tenant, run, { after: from, limit: limit + 1 })
  const documents = facts.map((fact, i) => factDocument(fact, from + i))
  return pageOf(documents, limit, { item: (fact) => fact, cursor: (last) => String(last.seq + 1) })
}

const stateOf = async (service: Service, run: RunId): Promise<RunState> =>
  (await allFacts(service, run)).reduce(runMachine.evolve, runMachine.initial)

const pausedOf = ({ pause }: LiveRun): readonly WaitingOn[] => {
  if (pause === null) return []
  const why = pause.reason === null ? '' : ` (${pause.reason})`
  return [{ kind: 'paused', step: null, until: null, text: `somebody to resume it: ${pause.by} paused it${why}` }]
}

const waitsOf = (run: LiveRun): readonly WaitingOn[] => {
  const retry: readonly WaitingOn[] =
    run.retryAt === null
      ? []
      : [{ kind: 'retrying', step: null, until: isoTimeOrNull(run.retryAt), text: 'the next attempt' }]
  const steps = run.open
    .entries()
    .map(([step, open]) => ({ step, until: isoTimeOrNull(stepWakeAt(open)), ...tellOpen(open) }))
  return [...pausedOf(run), ...retry, ...steps]
}

export const waitingOn = async (service: Service, run: RunSummary): Promise<readonly WaitingOn[]> => {
  if (isEnded(run.status)) return []
  const state = await stateOf(service, run.id)
  return state.kind === 'live' ? waitsOf(state) : []
}

const TURNS: Readonly<Record<QueuedReason, string>> = {
  paused: 'its turn: the handler is paused',
  overlap: 'its turn: an earlier run of the handler has not ended',
}

const turnOf = async (service: Service, run: RunSummary): Promise<readonly WaitingOn[]> => {
  const queued = await service.queued(run.id)
  return queued?.state === 'queued' ? [{ kind: 'turn', step: null, until: null, text: TURNS[queued.reason] }] : []
}

/** Also for its turn, or for a worker that suits it. */
const allWaits = async (service: Service, run: RunSummary): Promise<readonly WaitingOn[]> => {
  if (run.version === 0) return turnOf(service, run)
  const [lack, waiting] = await Promise.all([service.lacks(run), waitingOn(service, run)])
  const unplaced = lack === null ? [] : [{ kind: 'no_worker', step: null, until: null, text: lack }]
  return [...unplaced, ...waiting]
}

const sentence = ({ status }: RunSummary, waits: readonly WaitingOn[]): string => {
  if (isEnded(status)) return `It does not wait: it has ended, ${status}.`
  if (waits.length === 0)
    return status === 'queued' ? 'It waits for a worker to take it.' : 'It does not wait: it is at work.'
  return `It waits for ${waits.map(({ step, text }) => (step === null ? text : `${text} (step ${step})`)).join('; and for ')}.`
}

/** Why it does not go on, in one sentence and in parts. */
export const runWhy = async (service: Service, run: RunSummary): Promise<RunWhy> => {
  const waits = await allWaits(service, run)
  return { id: run.id, status: runDocument(run).status, text: sentence(run, waits), waiting_on: waits }
}

export const runDetail = async (service: Service, run: RunSummary): Promise<RunDetail> => {
  const { reader, tenant } = service
  const [waits, children, facts, result] = await Promise.all([
    allWaits(service, run),
    reader.children(tenant, run.id),
    factPage(service, run.id, 0, FIRST_FACTS),
    service.result(run.id, { wait: 0 }),
  ])
  const { output, error } = result
  return {
    ...runDocument(run),
    why: sentence(run, waits),
    waiting_on: waits,
    children: children.map(runDocument),
    ...{ output, error, facts },
  }
}
