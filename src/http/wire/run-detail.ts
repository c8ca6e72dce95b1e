/**
 * One run in full: its status, what it waits for, its children, its end and its facts.
 *
 * Owns the reading of a run for people. Uses the same rules that drive the run, so that a page never shows another wait than the real one.
 */
import type { Fact, RunDetail, RunWhy, WaitingOn } from '#http/openapi/api.ts'
import { type Page, pageOf } from '#http/server/query.ts'
import type { Service } from '#http/server/service.ts'
import type { QueuedReason } from '#model/flow/flow-outcome.ts'
import type { RunId } from '#model/kernel/ids.ts'
import { isJsonRecord, type Json } from '#model/kernel/json.ts'
import { skipIn } from '#model/plan/end.ts'
import type { LiveRun, RunState } from '#model/run/fact.ts'
import { outcomeMembers } from '#model/run/outcome.ts'
import { run as runMachine } from '#model/run/run.ts'
import { isEnded } from '#model/run/status.ts'
import { stepWakeAt } from '#model/run/step.ts'
import type { RunSummary } from '#ports/reader.ts'
import { describeOpenStep } from './fact-text.ts'
import { allFacts } from './facts.ts'
import { isoTimeOrNull } from './time.ts'
import { factDocument, runDocument } from './wire.ts'

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
  return [{ kind: 'paused', step: null, until: null, text: `a person to resume it: ${pause.by} paused it${why}` }]
}

const waitsOf = (run: LiveRun): readonly WaitingOn[] => {
  const retry: readonly WaitingOn[] =
    run.retryAt === null
      ? []
      : [{ kind: 'retrying', step: null, until: isoTimeOrNull(run.retryAt), text: 'the next attempt' }]
  const steps = run.open.entries().map(([step, open]) => ({
    ...{ step, until: isoTimeOrNull(stepWakeAt(open)), ...describeOpenStep(open) },
    ...(open.kind === 'uncertain' && { task: open.task }),
  }))
  return [...pausedOf(run), ...retry, ...steps]
}

const liveOf = async (service: Service, run: RunSummary): Promise<LiveRun | null> => {
  if (isEnded(run.status)) return null
  const state = await stateOf(service, run.id)
  return state.kind === 'live' ? state : null
}

export const waitingOn = async (service: Service, run: RunSummary): Promise<readonly WaitingOn[]> => {
  const live = await liveOf(service, run)
  return live === null ? [] : waitsOf(live)
}

const TURNS: Readonly<Record<QueuedReason, string>> = {
  paused: 'the queue: the handler is paused',
  overlap: 'the queue: an earlier run of the handler has not ended',
}

const turnOf = async (service: Service, run: RunSummary): Promise<readonly WaitingOn[]> => {
  const queued = await service.queued(run.id)
  return queued?.state === 'queued' ? [{ kind: 'turn', step: null, until: null, text: TURNS[queued.reason] }] : []
}

interface Standing {
  readonly waits: readonly WaitingOn[]
  readonly skipped: readonly Skipped[]
}

/** What the run waits for, also its turn in a queue or a suitable worker, and the steps it has skipped. `output`: the output of an ended run. */
const standingOf = async (service: Service, run: RunSummary, output: Json): Promise<Standing> => {
  if (run.version === 0) return { waits: await turnOf(service, run), skipped: [] }
  const [lack, live] = await Promise.all([service.lacks(run), liveOf(service, run)])
  const unplaced = lack === null ? [] : [{ kind: 'no_worker', step: null, until: null, text: lack }]
  const waits = [...unplaced, ...(live === null ? [] : waitsOf(live))]
  return { waits, skipped: live === null ? skippedIn(output) : skippedSoFar(live) }
}

type Skipped = RunWhy['skipped'][number]

const textOr = (value: Json | undefined): string | null => (typeof value === 'string' ? value : null)

/** The skipped steps of a plan, read from the output of its run. */
const skippedIn = (output: Json): readonly Skipped[] => {
  const steps = isJsonRecord(output) ? output['steps'] : undefined
  if (steps === undefined || !isJsonRecord(steps)) return []
  return Object.entries(steps).flatMap(([step, end]) => {
    if (!isJsonRecord(end) || end['status'] !== 'skipped') return []
    return { step, because: textOr(end['because']), reason: textOr(end['reason']) }
  })
}

/** The skipped steps of a run that has not ended, read from its facts. */
const skippedSoFar = ({ settled }: LiveRun): readonly Skipped[] =>
  settled.entries().flatMap(([step, end]) => {
    const skip = end.kind === 'done' && 'value' in end.result ? skipIn(end.result.value) : null
    return skip === null ? [] : { step, ...skip }
  })

/** One sentence for each reason. */
const skippedText = (skipped: readonly Skipped[]): string => {
  const byReason = new Map<string, string[]>()
  for (const { step, reason } of skipped) {
    const why = reason ?? 'no reason recorded'
    byReason.set(why, [...(byReason.get(why) ?? []), step])
  }
  return [...byReason].map(([why, steps]) => ` Skipped: ${steps.join(', ')} (${why}).`).join('')
}

const sentence = (run: RunSummary, waits: readonly WaitingOn[], skipped: readonly Skipped[]): string =>
  waitingText(run, waits) + skippedText(skipped)

const waitingText = ({ status }: RunSummary, waits: readonly WaitingOn[]): string => {
  if (isEnded(status)) return `It does not wait: it has ended (${status}).`
  if (waits.length === 0) return status === 'queued' ? 'It waits for a worker.' : 'It does not wait: it is running.'
  return `It waits for ${waits.map(({ step, text }) => (step === null ? text : `${text} (step ${step})`)).join('; and for ')}.`
}

/** Why the run does not continue, as one sentence and as a list. */
export const runWhy = async (service: Service, run: RunSummary): Promise<RunWhy> => {
  const { output } = await service.result(run.id, { wait: 0 })
  const { waits, skipped } = await standingOf(service, run, output)
  const text = sentence(run, waits, skipped)
  return { id: run.id, status: runDocument(run).status, text, waiting_on: waits, skipped }
}

export const runDetail = async (service: Service, run: RunSummary): Promise<RunDetail> => {
  const { reader, tenant } = service
  const [children, facts, result] = await Promise.all([
    reader.children(tenant, run.id),
    factPage(service, run.id, 0, FIRST_FACTS),
    service.result(run.id, { wait: 0 }),
  ])
  const { output, error, outcome } = result
  const { waits, skipped } = await standingOf(service, run, output)
  return {
    ...runDocument(run),
    why: sentence(run, waits, skipped),
    waiting_on: waits,
    skipped,
    children: children.map(runDocument),
    outcome: outcome === null ? null : (outcomeMembers(outcome) as unknown as RunDetail['outcome']),
    ...{ output, error, facts },
  }
}
