/**
 * The gate of a handler with flow control: events arrive, runs start, and every event that starts no run is recorded.
 *
 * Owns the order of the policies: idempotency, paused, rate limit, debounce or batch, overlap, throttle. Hops and filter come before (route),
 * concurrency after (claim). Never evaluates an expression: keys and costs arrive in the command.
 *
 * gate-1  Each event ends in exactly one place: started, suppressed, or waiting in the state.
 * gate-2  An event that is delivered twice is processed once.
 * gate-3  A paused gate starts nothing and loses nothing that it had accepted.
 * gate-4  The state after a checkpoint is the checkpoint: facts before it need not be read.
 * gate-8  A call does not wait for the end of a run that waits for the call: it is refused.
 * gate-5  Events that failed in a batch are retried without the others, at most as often as the handler's retry allows (batch-items.ts).
 */
import { type Arrival, type Candidate, candidateOf, eventOf } from '#model/event/arrival.ts'
import { batchGathering } from '#model/flow/policies/batch.ts'
import { burstEndsAt, type DebouncePolicy, debounceGathering } from '#model/flow/policies/debounce.ts'
import { type FanInPolicy, fanInGathering, hasPrimary, twinOf } from '#model/flow/policies/fan-in.ts'
import { type Claim, claimOf, holderOf, keepMsAfter } from '#model/flow/policies/idempotency.ts'
import { judgeOverlap, lineAt } from '#model/flow/policies/overlap.ts'
import { judgeRate } from '#model/flow/policies/rate-limit.ts'
import { type Gathering, isFull, isLate, judgeGather, openAt, windowOf } from '#model/flow/policies/window.ts'
import { dueAtOf, dueEntries, valueAt } from '#model/kernel/due-map.ts'
import type { Instant, RunId } from '#model/kernel/ids.ts'
import { type Decision, facts, type Machine, refuse } from '#model/kernel/machine.ts'
import { itemsOf, tryAgain } from './batch-items.ts'
import { type Draft, draftOf, policiesFor, record, replaceHolder, runFor, start, stop, suppress } from './gate-draft.ts'
import type { GateCommand, GateFact, GateState, OpenGate, PendingArrival } from './gate-fact.ts'
import { follow, withFollowersNotified } from './gate-follow.ts'
import { hearsJust } from './gate-read.ts'
import { isRetryWaiting, keptBy, keptReason } from './gate-retry.ts'
import { evolveGate } from './gate-state.ts'
import { forgetCall, withdrawCall } from './gate-withdraw.ts'

const MAX_HELD = 10_000
/** How many items one decision moves on: an append must not grow without bound. */
const MAX_MOVES = 500

/** An arrival between two stages, with the key that it will hold and the claim that it replaces once it has found a place. */
interface Passage extends PendingArrival {
  readonly replaces: Claim | null
}

type CommandOf<Type extends GateCommand['type']> = Extract<GateCommand, { readonly type: Type }>

const drop = (draft: Draft, candidate: Candidate, detail: string, into?: RunId): void => {
  // A retry has an id of its own: a caller with the same key may have received it.
  const promised = candidate.attempt === undefined ? {} : { promised: candidate.run }
  for (const event of candidate.events)
    suppress(draft, event, { reason: 'overlap', detail, ...(into === undefined ? {} : { into }), ...promised })
}

/** gate-8. Returns the run in its line that made the call, itself or through others. */
const waitsForItself = ({ state }: Draft, { events, overlapKey }: Candidate): RunId | null => {
  const parent = events[0]?.call?.parent
  if (parent === undefined) return null
  const callers = [parent.run, ...(parent.above ?? [])]
  return lineAt(state.lines, overlapKey).running.find((run) => callers.includes(run)) ?? null
}

/** Applies overlap, and then throttle. Returns false if the candidate found no place. */
const place = (draft: Draft, candidate: Candidate, passage: Passage | null): boolean => {
  const { overlap, room } = draft.policies
  const verdict = judgeOverlap(lineAt(draft.state.lines, candidate.overlapKey), overlap, room)
  const claim = passage?.claim ?? null
  switch (verdict.kind) {
    case 'skip':
      drop(draft, candidate, verdict.detail)
      return false
    case 'start':
      for (const run of verdict.terminates) stop(draft, run, 'terminate')
      start(draft, candidate, claim)
      break
    case 'wait': {
      const self = verdict.cancels.length === 0 ? waitsForItself(draft, candidate) : null
      if (self !== null) {
        const detail = `RUN_WAITS_FOR_ITSELF: ${self} waits for this call, and this call would wait until ${self} has ended`
        for (const event of candidate.events) suppress(draft, event, { reason: 'error', detail })
        return false
      }
      for (const run of verdict.cancels) stop(draft, run, 'cancel')
      const { displaces } = verdict
      for (const older of displaces) drop(draft, older, 'a newer event waits instead', candidate.run)
      record(draft, { type: 'gate.buffered', at: draft.now, candidate, displaces: displaces.length, claim })
      break
    }
  }
  replaceHolder(draft, passage?.replaces ?? null, candidate.run)
  return true
}

const closeWindow = (draft: Draft, key: string): void => {
  const window = valueAt(draft.state.windows, key)
  if (window === undefined) return
  record(draft, { type: 'gate.window_closed', at: draft.now, key })
  const { fanIn } = draft.policies
  // fan-in-1
  if (fanIn === undefined || hasPrimary(fanIn, window.candidate)) return void place(draft, window.candidate, null)
  const detail = `it came without ${fanIn.primary}`
  for (const event of window.candidate.events) suppress(draft, event, { reason: 'fan_in', detail })
}

const joinOpen = (draft: Draft, passage: Passage, gathering: Gathering, firesAt: Instant): RunId => {
  const { arrival, claim } = passage
  const key = arrival.windowKey
  const candidate = valueAt(draft.state.windows, key)?.candidate
  const run = candidate?.run ?? runFor(draft, arrival)
  if (gathering.take === 'replace')
    for (const older of candidate?.events ?? [])
      suppress(draft, older, { reason: 'debounced', detail: 'a newer event came within the period', into: run })
  record(draft, {
    type: 'gate.window_joined',
    at: draft.now,
    key,
    arrival,
    take: gathering.take,
    firesAt,
    claim: claim === null ? null : { ...claim, run },
  })
  return run
}

const openNew = (draft: Draft, { arrival, claim }: Passage, gathering: Gathering, firesAt: Instant): RunId => {
  const key = arrival.windowKey
  closeWindow(draft, key)
  const run = runFor(draft, arrival)
  const window = windowOf(run, arrival, gathering.take, draft.now)
  record(draft, { type: 'gate.window_opened', at: draft.now, key, window, firesAt, claim })
  return run
}

const gather = (draft: Draft, passage: Passage, gathering: Gathering): void => {
  const { arrival } = passage
  const key = arrival.windowKey
  const open = openAt(draft.state.windows, key)
  if (open !== null && isLate(gathering, open, arrival, draft.now)) {
    const detail = 'older than an event that came within the period'
    return suppress(draft, eventOf(arrival), { reason: 'debounced', detail, into: open.window.candidate.run })
  }
  const { kind, firesAt } = judgeGather(gathering, open, arrival, draft.now)
  const run = (kind === 'join' ? joinOpen : openNew)(draft, passage, gathering, firesAt)
  replaceHolder(draft, passage.replaces, run)
  const window = valueAt(draft.state.windows, key)
  if (window !== undefined && isFull(gathering, window)) closeWindow(draft, key)
}

/** Members of one key are gathered. If a second one of the same type arrives, the policy decides which counts. */
const gatherMembers = (draft: Draft, passage: Passage, policy: FanInPolicy): void => {
  const { arrival } = passage
  const key = arrival.windowKey
  const open = openAt(draft.state.windows, key)
  const candidate = open !== null && open.firesAt > draft.now ? open.window.candidate : null
  const twin = candidate === null ? undefined : twinOf(candidate, arrival)
  if (candidate === null || twin === undefined || policy.collect === 'all')
    return gather(draft, passage, fanInGathering(policy))
  const why = { reason: 'fan_in', detail: 'another event of its type was taken', into: candidate.run } as const
  if (policy.collect === 'first') return suppress(draft, eventOf(arrival), why)
  gather(draft, passage, fanInGathering(policy))
  record(draft, { type: 'gate.withdrawn', at: draft.now, sequence: twin.sequence, place: { kind: 'window', key } })
  suppress(draft, twin, why)
}

/** The first event of a burst runs now, the rest are merged into its run. */
const lead = (draft: Draft, passage: Passage, policy: DebouncePolicy): void => {
  const { now, state } = draft
  const { arrival } = passage
  const key = arrival.windowKey
  const extend = (run: RunId, openedAt: Instant): void => {
    const endsAt = burstEndsAt(policy, openedAt, now)
    record(draft, { type: 'gate.burst_extended', at: now, key, run, openedAt, endsAt })
  }
  const burst = valueAt(state.bursts, key)
  if (burst !== undefined && (dueAtOf(state.bursts, key) ?? now) > now) {
    const detail = 'the first event of this period already started a run'
    suppress(draft, eventOf(arrival), { reason: 'debounced', detail, into: burst.run })
    extend(burst.run, burst.openedAt)
    return
  }
  const run = runFor(draft, arrival)
  if (place(draft, candidateOf(run, arrival, 'event'), passage)) extend(run, now)
}

/** Debounce or batch: both gather events, and a call is not one. */
const passWindow = (draft: Draft, passage: Passage): void => {
  const { arrival } = passage
  const { batch, debounce } = policiesFor(draft, arrival)
  const run = runFor(draft, arrival)
  if (arrival.call !== undefined) return void place(draft, candidateOf(run, arrival, 'event'), passage)
  if (draft.policies.fanIn !== undefined) return gatherMembers(draft, passage, draft.policies.fanIn)
  if (batch !== null && !arrival.alone) return gather(draft, passage, batchGathering(batch))
  if (batch === null && debounce?.mode === 'leading') return lead(draft, passage, debounce)
  if (batch === null && debounce !== null) return gather(draft, passage, debounceGathering(debounce))
  place(draft, candidateOf(run, arrival, batch === null ? 'event' : 'events'), passage)
}

const passRate = (draft: Draft, passage: Passage): void => {
  // gate-retry-3
  const rateLimit = passage.arrival.call?.retry ? null : policiesFor(draft, passage.arrival).rateLimit
  const key = passage.arrival.rateKey
  if (rateLimit !== null) {
    const verdict = judgeRate(draft.state.rates, rateLimit, key, draft.now)
    if (verdict.kind === 'over') {
      const detail = `the rate limit of ${rateLimit.limit} in ${rateLimit.periodMs} ms is reached`
      return suppress(draft, eventOf(passage.arrival), { reason: 'rate_limit', detail, retryAt: verdict.retryAt })
    }
    record(draft, { type: 'gate.counted', at: draft.now, key, countsUntil: verdict.countsUntil })
  }
  passWindow(draft, passage)
}

/** After a resume, new arrivals wait after the held ones until all of those have gone. */
const passPause = (draft: Draft, passage: Passage): void => {
  const { state, policies, now } = draft
  if (state.pausedBy === null && state.held.length === 0) return passRate(draft, passage)
  const { arrival, claim, replaces } = passage
  const refused =
    state.held.length >= MAX_HELD
      ? `${MAX_HELD} events are already held`
      : state.pausedBy !== null && policies.whilePaused === 'suppress'
        ? `paused by ${state.pausedBy}`
        : null
  if (refused !== null) return suppress(draft, eventOf(arrival), { reason: 'paused', detail: refused })
  record(draft, { type: 'gate.held', at: now, arrival, claim })
  replaceHolder(draft, replaces, runFor(draft, arrival))
}

const passIdempotency = (draft: Draft, arrival: Arrival): void => {
  const { now, state } = draft
  const policy = policiesFor(draft, arrival).idempotency
  const key = arrival.idempotencyKey
  if (policy === null || key === null)
    return passPause(draft, { arrival: { ...arrival, idempotencyKey: null }, claim: null, replaces: null })
  const isRetry = arrival.call?.retry !== undefined
  const kept = isRetry ? keptBy(state, arrival, now) : null
  if (kept !== null) return suppress(draft, eventOf(arrival), keptReason(kept))
  const holder = isRetry ? null : holderOf(state.claims, key, now)
  if (holder !== null && policy.onConflict !== 'replace') {
    const detail = policy.onConflict === 'reject' ? 'RUN_EXISTS: a run has the same key' : 'a run has the same key'
    return suppress(draft, eventOf(arrival), { reason: 'duplicate', detail, into: holder.run })
  }
  const { sequence } = arrival
  passPause(draft, {
    arrival,
    claim: claimOf(policy, { key, sequence, run: runFor(draft, arrival), now }),
    replaces: holder,
  })
}

const admit = (draft: Draft, arrival: Arrival): void => {
  const { throttle } = draft.policies
  const { cost } = arrival
  // Written so that NaN is refused, too.
  if (throttle !== null && !(cost > 0 && cost <= throttle.limit)) {
    const detail = `COST_TOO_HIGH: a cost of ${cost} is above the limit of ${throttle.limit}`
    return suppress(draft, { ...eventOf(arrival), key: null }, { reason: 'error', detail })
  }
  passIdempotency(draft, arrival)
}

const arrive = (draft: Draft, { arrivals, refused, cursor }: CommandOf<'arrive'>): void => {
  const { cursor: before, beyond } = draft.state
  const told = new Set(beyond)
  // gate-2
  const isNews = ({ sequence }: { readonly sequence: number }): boolean => {
    const isNew = sequence > before && !told.has(sequence)
    if (isNew) told.add(sequence)
    return isNew
  }
  for (const { sequence, reason, detail } of refused.filter(isNews))
    suppress(draft, { sequence, key: null }, { reason, detail })
  for (const arrival of arrivals.filter(isNews)) admit(draft, arrival)
  const seen = Math.max(cursor, before)
  if (seen === before && told.size === beyond.length) return
  const later = [...told].filter((sequence) => sequence > seen)
  record(draft, { type: 'gate.read', at: draft.now, cursor: seen, beyond: later })
}

/** A call has no place in the ledger's order: it is given once, by the writer of its outcome. */
const call = (draft: Draft, command: CommandOf<'call'>): void => {
  if (isRetryWaiting(draft.state, command.arrival.call)) return
  const number = draft.state.calls + 1
  record(draft, { type: 'gate.asked', at: draft.now, number })
  const arrival = { ...command.arrival, sequence: -number }
  if (command.problem === null) return admit(draft, arrival)
  suppress(draft, { ...eventOf(arrival), key: null }, { reason: 'error', detail: command.problem })
}

/** Starts the next waiter of each free line. Returns how many. */
const callWaiting = (draft: Draft, limit: number): number => {
  const due = dueEntries(draft.state.lines, draft.now).slice(0, limit)
  for (const [line, { waiting }] of due) {
    const [next] = waiting
    if (next === undefined) continue
    record(draft, { type: 'gate.called', at: draft.now, line })
    start(draft, next, null)
  }
  return due.length
}

const releaseHeld = (draft: Draft, limit: number): void => {
  const released = draft.state.held.slice(0, limit)
  if (released.length === 0) return
  record(draft, { type: 'gate.released', at: draft.now, count: released.length })
  for (const held of released) passRate(draft, { ...held, replaces: null })
}

const passTime = (draft: Draft): void => {
  // gate-3
  if (draft.state.pausedBy !== null) return
  const called = callWaiting(draft, MAX_MOVES)
  const due = dueEntries(draft.state.windows, draft.now).slice(0, MAX_MOVES - called)
  for (const [key] of due) closeWindow(draft, key)
  releaseHeld(draft, MAX_MOVES - called - due.length)
}

const endRuns = (draft: Draft, { ended }: CommandOf<'end_runs'>): void => {
  for (const end of ended) {
    const { run, status } = end
    const tracked = valueAt(draft.state.runs, run)
    if (tracked === undefined) continue
    const keepMs = keepMsAfter(policiesFor(draft, tracked).idempotency, status)
    const ended = { type: 'gate.run_ended', at: draft.now, run, status, keepMs } as const
    const items = itemsOf(draft, end, tracked.attempt ?? 1)
    record(draft, items === null ? ended : { ...ended, items: items.keys })
    if (items !== null) tryAgain(draft, items)
  }
  if (draft.state.pausedBy === null) callWaiting(draft, MAX_MOVES)
}

/** A type that is new to the gate has no past here; a removed type is read up to where it ended. */
const listen = (state: OpenGate, { now, types, position }: CommandOf<'listen'>): Decision<GateFact> => {
  if (hearsJust(state, types)) return facts()
  const dropped = state.types
    .filter(({ type }) => !types.includes(type))
    .map((heard) => ({ ...heard, until: heard.until ?? position }))
    .filter(({ until }) => until > state.cursor)
  const after = (wanted: string): number => state.types.find(({ type }) => type === wanted)?.after ?? position
  const heard = types.map((type) => ({ type, after: after(type), until: null }))
  return facts({ type: 'gate.listened', at: now, types: [...heard, ...dropped] })
}

const drafted = (draft: Draft, work: (draft: Draft) => void): Decision<GateFact> => {
  work(draft)
  // Not with facts(): a decision may hold more facts than a function call takes arguments.
  return { kind: 'facts', facts: draft.facts }
}

const decideOpen = (state: OpenGate, command: GateCommand): Decision<GateFact> => {
  const at = command.now
  switch (command.type) {
    case 'open_gate':
      return facts()
    case 'listen':
      return listen(state, command)
    case 'arrive':
      return drafted(draftOf(state, command), (draft) => arrive(draft, command))
    case 'call':
      return drafted(draftOf(state, command), (draft) => call(draft, command))
    case 'withdraw_call':
      return withdrawCall(state, command)
    case 'forget_call':
      return forgetCall(state, command)
    case 'follow':
      return follow(state, command)
    case 'pass_time':
      return drafted(draftOf(state, command), passTime)
    case 'end_runs':
      return drafted(draftOf(state, command), (draft) => endRuns(draft, command))
    case 'take_turns':
      return { kind: 'facts', facts: command.turns.map((turn) => ({ type: 'gate.turned', at, turn })) }
    case 'record_starts':
      return { kind: 'facts', facts: command.starts }
    case 'pause_gate':
      return state.pausedBy === null ? facts({ type: 'gate.paused', at, by: command.by }) : facts()
    case 'resume_gate':
      return state.pausedBy === null ? facts() : facts({ type: 'gate.resumed', at, by: command.by })
    case 'checkpoint_gate':
      // gate-4
      return facts({ type: 'gate.checkpointed', at, state })
  }
}

export const gate: Machine<GateState, GateCommand, GateFact> = {
  initial: { kind: 'none' },

  decide(state, command) {
    if (state.kind === 'open') return withFollowersNotified(state, command, decideOpen(state, command))
    if (command.type !== 'open_gate') return refuse('NOT_FOUND', 'the gate was never opened')
    return facts({ type: 'gate.opened', at: command.now, cursor: command.cursor })
  },

  evolve: evolveGate,
}
