/**
 * gate-1 and the promises of flow control: each event is used once, and runs of one key keep the distance that their policy requires.
 *
 * Owns its own evaluation of a gate's facts; the promises are those of the play (GateRule), never the policies under test.
 */
import { documentKey } from '#adapters/storage/memory/store.ts'
import { OUTCOME_TABLE, outcomeKey, QUEUED_TABLE } from '#model/flow/flow-outcome.ts'
import type { GateFact } from '#model/flow/gate-fact.ts'
import type { Look, LookedCoordinator, LookedRun } from '#test/chaos/sim/look.ts'
import type { Errand, GateRule } from '#test/chaos/sim/play.ts'
import { playOf } from '#test/chaos/sim/system.ts'
import type { World } from '#test/chaos/sim/world.ts'
import type { Evidence } from './evidence.ts'
import { itemKeys, keptByTwo } from './keys.ts'
import { groups, livesOf, misborn, overlapping, type Span, spanOf, unstopped } from './lives.ts'

type Started = Extract<GateFact, { readonly type: 'gate.started' }>
type Gathered = Extract<GateFact, { readonly type: 'gate.window_opened' | 'gate.window_joined' }>

export const checkGates = (evidence: Evidence): readonly string[] =>
  evidence.look.gates().flatMap((gate) => {
    // A shared book of starts belongs to a gate; its starts are checked there (crowdedStarts).
    if (gate.stream.handler.startsWith('limits.')) return []
    const rule = playOf(gate.stream.handler)?.coordinator
    return rule?.kind === 'gate' ? judge(evidence, gate, rule) : [`${gate.id} is the gate of no play`]
  })

const judge = (
  { look, witness, world, isSkewed }: Evidence,
  gate: LookedCoordinator<GateFact>,
  rule: GateRule,
): readonly string[] => {
  const { handler } = gate.stream
  const runs = look.runs().filter(({ stream }) => stream.handler === handler)
  const byId = new Map<string, LookedRun>(runs.map((run) => [run.id, run]))
  const started = gate.facts.filter((fact) => fact.type === 'gate.started')
  // A call that waited and was withdrawn is a run that ended as it was created.
  // A call that was made twice, and whose run exists, is dropped without another (gate-7).
  const back = gate.facts.flatMap((fact) =>
    fact.type === 'trigger.suppressed' && fact.into !== fact.call?.run && fact.call?.retry === undefined
      ? (fact.call ?? [])
      : [],
  )
  const named = [
    // A retry starts no run: the run that it continues has the parent that it was created with.
    ...started.flatMap(({ run, tracked, call }) =>
      call?.retry !== undefined ? [] : [{ run, isTracked: tracked, caller: call?.parent?.run }],
    ),
    ...back.map(({ run, parent }) => ({ run, isTracked: false, caller: parent?.run })),
  ]
  const keyOf = (id: string): string => rule.keyOf(firstErrand(id, started, look))
  const begun = runs.filter(({ id }) => !back.some((call) => call.run === id))
  const spans = groups(begun, ({ id }) => keyOf(id)).map((ofKey) => ofKey.map((run) => spanOf(run, witness)))
  const { spacingMs, rate } = rule
  return [
    ...places(look, gate),
    ...outcomes(look, gate),
    ...misborn({ id: gate.id, handler }, named, runs),
    ...pauses(gate),
    ...unstopped(gate.facts, byId),
    ...early(started, world),
    ...(rule.apart === 'all' ? overlapping(spans.flat(), handler) : []),
    ...(rule.apart === 'key' || rule.once === true ? spans.flatMap((ofKey) => overlapping(ofKey, handler)) : []),
    ...(rule.once === true ? spans.flatMap(repeated) : []),
    ...(rule.once === true
      ? spans.flatMap((ofKey) => keptByTwo(ofKey.flatMap(({ run }) => livesOf(run, witness))))
      : []),
    ...(rule.itemKeys === true ? itemKeys(look, gate, (sequence) => rule.keyOf(errandAt(look, sequence))) : []),
    ...(spacingMs === undefined || isSkewed
      ? []
      : groups(started, ({ run }) => keyOf(run)).flatMap((ofKey) => [
          ...crowded(ofKey, spacingMs),
          ...crowdedStarts(ofKey, world, spacingMs),
        ])),
    ...(rate === undefined ? [] : tooMany(gate, rate)),
    ...(isSkewed ? [] : started.flatMap((fact) => gathered(gate, fact, rule))),
  ]
}

const errandAt = (look: Look, sequence: number): Errand => {
  const row = look.row(sequence)
  return row === undefined ? { id: -1, kind: 0 } : (JSON.parse(row.text).data as Errand)
}

/** The event that started the run represents all of them. */
const firstErrand = (id: string, started: readonly Started[], look: Look): Errand =>
  errandAt(look, started.find(({ run }) => run === id)?.events[0] ?? 0)

/** gate-1: at the end nothing waits any more, so each event is in one start or one reason. */
const places = (look: Look, { stream, facts }: LookedCoordinator<GateFact>): readonly string[] => {
  const counts = new Map<number, number>()
  for (const fact of facts) {
    // Events of a batch that are tried again have been counted already.
    if (fact.type === 'gate.started' && fact.attempt !== undefined) continue
    const sequences =
      fact.type === 'gate.started' ? fact.events : fact.type === 'trigger.suppressed' ? [fact.sequence] : []
    for (const sequence of sequences) counts.set(sequence, (counts.get(sequence) ?? 0) + 1)
  }
  const own = look.events().filter(({ type, sequence }) => type === `go.${stream.handler}` && sequence > stream.base)
  return own
    .filter(({ sequence }) => counts.get(sequence) !== 1)
    .map(({ id, sequence }) => `gate-1: ${id} (${stream.handler}) has ${counts.get(sequence) ?? 0} places`)
}

/** flow-outcome-1: a promised run that cannot start is withdrawn as one. flow-outcome-2: an event without a run of its own tells callers so. */
const outcomes = (look: Look, { stream, facts }: LookedCoordinator<GateFact>): readonly string[] => {
  const { tenant, handler } = stream
  const isWritten = (table: string, key: string): boolean => look.store.documents.has(documentKey(tenant, table, key))
  const started = facts.filter((fact) => fact.type === 'gate.started')
  const silent = new Set([
    ...facts.flatMap((fact) => (fact.type === 'trigger.suppressed' && fact.call === undefined ? [fact.sequence] : [])),
    ...started.flatMap(({ call, events }) => (call === undefined ? events.slice(0, -1) : [])),
  ])
  const unsaid = [...silent].filter((sequence) => !isWritten(OUTCOME_TABLE, outcomeKey(sequence, handler)))
  const running = started.flatMap(({ call, events }) => (call === undefined ? events.slice(-1) : []))
  return [
    ...started
      .filter(({ run }) => isWritten(QUEUED_TABLE, run))
      .map(({ run }) => `flow-outcome-1: ${run} has begun and is still promised`),
    ...running
      .filter((sequence) => !silent.has(sequence) && isWritten(OUTCOME_TABLE, outcomeKey(sequence, handler)))
      .map((sequence) => `flow-outcome-2: event ${sequence} started a run of ${handler} and is said not to have`),
    ...unsaid.map((sequence) => `flow-outcome-2: nothing says why event ${sequence} started no run of ${handler}`),
  ]
}

/** gate-3. */
const pauses = ({ id, facts }: LookedCoordinator<GateFact>): readonly string[] => {
  let isPaused = false
  return facts.flatMap((fact) => {
    if (fact.type === 'gate.paused') isPaused = true
    if (fact.type === 'gate.resumed') isPaused = false
    return isPaused && fact.type === 'gate.started' ? [`gate-3: ${id} started ${fact.run} while it was paused`] : []
  })
}

/** A run that was due by one worker's clock may begin on another whose clock is behind. */
const MAX_SKEW_MS = 800

const early = (started: readonly Started[], world: World): readonly string[] =>
  started.flatMap(({ run, notBefore }) => {
    const first = world.executions.find((execution) => execution.run === run)
    return notBefore !== null && first !== undefined && first.at < notBefore - MAX_SKEW_MS
      ? [`throttle-1: ${run} began ${notBefore - first.at} ms before its turn`]
      : []
  })

/** One run that succeeds, and it is the last. */
const repeated = (spans: readonly Span[]): readonly string[] =>
  spans
    .toSorted((one, other) => one.bornAt - other.bornAt)
    .slice(0, -1)
    .filter(({ end }) => end === 'success')
    .map(({ run }) => `idempotency: ${run.id} has succeeded, and another was started for its key`)

const crowded = (started: readonly Started[], spacingMs: number): readonly string[] => {
  const turns = started.map(({ at, notBefore }) => notBefore ?? at).sort((a, b) => a - b)
  return turns.flatMap((turn, i) => {
    const apart = turn - (turns[i - 1] ?? Number.NEGATIVE_INFINITY)
    return apart < spacingMs ? [`throttle-1: two turns are ${apart} ms apart instead of ${spacingMs}`] : []
  })
}

/** starts-1: what counts is when handlers were first entered, whatever happened to their workers. */
const crowdedStarts = (started: readonly Started[], { entries }: World, spacingMs: number): readonly string[] => {
  const begun = started.flatMap(({ run }) => entries.get(run) ?? []).sort((a, b) => a - b)
  return begun.flatMap((at, i) => {
    const apart = at - (begun[i - 1] ?? Number.NEGATIVE_INFINITY)
    return apart < spacingMs ? [`starts-1: two runs began ${apart} ms apart instead of ${spacingMs}`] : []
  })
}

const tooMany = (
  { id, facts }: LookedCoordinator<GateFact>,
  { limit, periodMs }: NonNullable<GateRule['rate']>,
): readonly string[] => {
  const counted = facts.filter((fact) => fact.type === 'gate.counted')
  return groups(counted, ({ key }) => key).flatMap((ofKey) => {
    const instants = ofKey.map(({ at }) => at).sort((a, b) => a - b)
    return instants.flatMap((at, i) => {
      const earlier = instants[i - limit]
      return earlier !== undefined && at - earlier < periodMs
        ? [`rate limit: ${id} let ${limit + 1} pass in ${at - earlier} ms`]
        : []
    })
  })
}

/** Windows: none fires before it is quiet, full or over. */
const gathered = ({ facts }: LookedCoordinator<GateFact>, fact: Started, rule: GateRule): readonly string[] => {
  const { quietMs, batch } = rule
  if (fact.attempt !== undefined) return []
  const before = facts.slice(0, facts.indexOf(fact))
  const taken = before.filter((one): one is Gathered => {
    if (one.type === 'gate.window_joined') return fact.events.includes(one.arrival.sequence)
    return one.type === 'gate.window_opened' && one.window.candidate.run === fact.run
  })
  const [opened, last] = [taken[0]?.at ?? 0, taken.at(-1)?.at ?? 0]
  const wrong: string[] = []
  if (quietMs !== undefined && fact.at < Math.min(last + quietMs, opened + 10 * quietMs))
    wrong.push(`debounce: ${fact.run} started ${fact.at - last} ms after its last event`)
  if (batch !== undefined && fact.events.length > batch.maxSize)
    wrong.push(`batch: ${fact.run} has ${fact.events.length} events`)
  if (batch !== undefined && fact.events.length < batch.maxSize && fact.at < opened + batch.maxWaitMs)
    wrong.push(`batch: ${fact.run} started after ${fact.at - opened} ms with ${fact.events.length} events`)
  return wrong
}
