/**
 * What a run finds when it looks: events for its open waits, the ends of its children.
 *
 * Owns looking. A signal only says that a look is worth it; what counts is decided by the model from what is found here.
 */
import { compileRule } from '../manifest/rules.ts'
import { TrihandError } from '../model/errors.ts'
import type { StoredEvent } from '../model/event.ts'
import { readRunFact } from '../model/fact-codec.ts'
import { isTaskId, type RunId, type TaskId, type TenantId } from '../model/ids.ts'
import type { Json } from '../model/json.ts'
import { fold } from '../model/machine.ts'
import type { Rule } from '../model/rule.ts'
import { run as runMachine } from '../model/run.ts'
import type { ChildEnd, RunState } from '../model/run-fact.ts'
import { isEnded } from '../model/status.ts'
import { taskAnswer } from '../model/task-view.ts'
import { fits, type OpenWait, type Received } from '../model/wait.ts'
import type { Ledger } from '../ports/ledger.ts'
import type { House } from './house.ts'
import { storeValue } from './payloads.ts'
import type { Resident } from './resident.ts'
import { eventRoot } from './route.ts'
import { loadTask } from './task-state.ts'

const PAGE = 1_000

/** All events of these types after the base, oldest first. */
export const eventsSince = async (
  ledger: Pick<Ledger, 'events'>,
  tenant: TenantId,
  types: readonly string[],
  base: number,
): Promise<readonly StoredEvent[]> => {
  const found: StoredEvent[] = []
  for (let after = base; ; after = found.at(-1)?.sequence ?? after) {
    const page = await ledger.events({ tenant, types, after, limit: PAGE })
    found.push(...page)
    if (page.length < PAGE) return found
  }
}

/** Events looked up once for many runs that were woken together. Null: not among them, ask the ledger. */
export type Prefetched = (types: readonly string[], base: number) => readonly StoredEvent[] | null

export const NOTHING_PREFETCHED: Prefetched = () => null

/** The waits of a run that events can end. */
export const openWaitsOf = (state: RunState | null): readonly OpenWait[] => {
  if (state?.kind !== 'live' || state.open.size === 0 || state.cancel !== null) return []
  return state.open.entries().flatMap(([, open]) => (open.kind === 'waiting' ? [open.wait] : []))
}

/** One question for all waits on the same types, from the earliest base on; too many answers, and each run asks for itself. */
export const prefetchEvents = async (
  ledger: Pick<Ledger, 'events'>,
  tenant: TenantId,
  waits: readonly OpenWait[],
): Promise<Prefetched> => {
  const groups = new Map<string, { readonly types: readonly string[]; readonly base: number }>()
  for (const { spec } of waits) {
    const key = spec.types.join('\n')
    groups.set(key, { types: spec.types, base: Math.min(spec.base, groups.get(key)?.base ?? spec.base) })
  }
  const found = new Map<string, readonly StoredEvent[]>()
  for (const [key, { types, base }] of groups) {
    const page = await ledger.events({ tenant, types, after: base, limit: PAGE })
    if (page.length < PAGE) found.set(key, page)
  }
  return (types, base) => found.get(types.join('\n'))?.filter((event) => event.sequence > base) ?? null
}

const rules = new Map<string, Rule>()

const ruleOf = (text: string): Rule => {
  const known = rules.get(text)
  if (known !== undefined) return known
  const rule = compileRule(text)
  rules.set(text, rule)
  return rule
}

/** A condition that fails to evaluate does not match. */
const holds = (condition: string | null, event: StoredEvent, trigger: Json): boolean => {
  if (condition === null) return true
  const answer = ruleOf(condition)({ event: eventRoot(event), payload: event.data, trigger })
  return answer.kind === 'value' && answer.value === true
}

/** The events that this wait should receive, in order: the first for `any`, the first of each type for `all`. */
export const candidates = (wait: OpenWait, events: readonly StoredEvent[], trigger: Json): readonly Received[] => {
  const chosen: Received[] = []
  for (const event of events) {
    const taken = chosen.some((earlier) => wait.spec.mode === 'any' || earlier.type === event.type)
    if (taken || !fits(wait, event) || !holds(wait.spec.condition, event, trigger)) continue
    chosen.push({ type: event.type, sequence: event.sequence })
  }
  return chosen
}

export const offerEvents = async (resident: Resident, prefetched: Prefetched): Promise<void> => {
  const live = resident.live
  if (live === null || live.cancel !== null) return
  for (const [step, open] of live.open.entries()) {
    if (open.kind !== 'waiting') continue
    const { types, base } = open.wait.spec
    const events =
      prefetched(types, base) ?? (await eventsSince(resident.house.ledger, resident.record.tenant, types, base))
    for (const event of candidates(open.wait, events, resident.inputs.input)) {
      const found = events.find((candidate) => candidate.sequence === event.sequence)
      if (found !== undefined) resident.seen.keep(found)
      resident.ask({
        command: { type: 'receive_event', now: resident.house.clock.now(), step, event },
        luggage: null,
        done: null,
      })
    }
  }
}

export const offerChildren = async (resident: Resident): Promise<void> => {
  const calling =
    resident.live?.open
      .entries()
      .flatMap(([step, open]) => (open.kind === 'calling' ? [{ step, child: open.child }] : [])) ?? []
  if (calling.length === 0) return
  const heads = await resident.house.ledger.load(
    calling.map(({ child }) => child),
    { after: Number.MAX_SAFE_INTEGER },
  )
  for (const [i, { step, child }] of calling.entries()) {
    const head = heads[i]
    if (head == null || (!isTaskId(child) && !isEnded(head.status))) continue
    const end = isTaskId(child) ? await answerOf(resident.house, child) : await endOf(resident.house.ledger, child)
    if (end !== null)
      resident.ask({
        command: { type: 'end_child', now: resident.house.clock.now(), step, child, end },
        luggage: null,
        done: null,
      })
  }
}

/** How a run ended; null while it has not. */
const endOf = async (ledger: Pick<Ledger, 'load'>, id: RunId): Promise<ChildEnd | null> => {
  const [record] = await ledger.load([id])
  if (record == null) throw new TrihandError('NOT_FOUND', `there is no run ${id}`)
  if (record.broken !== undefined)
    return { kind: 'failed', error: { code: 'FACT_BROKEN', message: `child ${id} ${record.status}: ${record.broken}` } }
  const state = fold(runMachine, record.facts.map(readRunFact))
  if (state.kind !== 'ended') return null
  if (state.output !== null) return { kind: 'done', result: state.output }
  const { code, message } = state.error ?? { code: 'CHILD_FAILED' as const, message: 'no reason was recorded' }
  return { kind: 'failed', error: { code, message: `child ${id} ${state.status}: ${message}` } }
}

/** What people have answered; null while they have not. A task that was withdrawn has failed its step, so that a retry asks anew. */
const answerOf = async (house: House, task: TaskId): Promise<ChildEnd | null> => {
  const { state } = await loadTask(house, task)
  const answer = taskAnswer(state)
  if (answer === null) return null
  if (answer.status === 'withdrawn')
    return { kind: 'failed', error: { code: 'TASK_WITHDRAWN', message: answer.feedback ?? 'the task was withdrawn' } }
  const { payload } = await storeValue(house, { task, ...answer })
  return { kind: 'done', result: payload, ...(state.kind === 'open' && { open: true as const }) }
}
