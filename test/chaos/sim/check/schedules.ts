/**
 * schedule-1, schedule-2, schedule-4, schedule-5: every slot has one run or lies in one range of skipped ones, none is early, a
 * request is done once, a paused schedule starts nothing by itself.
 *
 * Owns its own calendar: the slots are the multiples of the interval.
 */
import type { ScheduleFact } from '#model/schedule/fact.ts'
import { BACKFILLED } from '#test/chaos/sim/coordinator-errands.ts'
import type { LookedCoordinator, LookedRun } from '#test/chaos/sim/look.ts'
import type { ScheduleRule } from '#test/chaos/sim/play.ts'
import { playOf } from '#test/chaos/sim/system.ts'
import type { Evidence } from './evidence.ts'
import { misborn, overlapping, spanOf, unstopped } from './lives.ts'

type Fired = Extract<ScheduleFact, { readonly type: 'schedule.fired' }>

export const checkSchedules = (evidence: Evidence): readonly string[] =>
  evidence.look.schedules().flatMap((schedule) => {
    const rule = playOf(schedule.stream.handler)?.coordinator
    return rule?.kind === 'schedule' ? judge(evidence, schedule, rule) : [`${schedule.id} is the schedule of no play`]
  })

const judge = (
  { look, witness }: Evidence,
  { id, stream, facts }: LookedCoordinator<ScheduleFact>,
  rule: ScheduleRule,
): readonly string[] => {
  const runs = look.runs().filter(({ stream: { handler, parent } }) => handler === stream.handler && parent !== null)
  const fired = facts.filter((fact) => fact.type === 'schedule.fired')
  const named = fired.map(({ run }) => ({ run, isTracked: true }))
  const sent = look.events().filter(({ source }) => source === `schedule:${stream.handler}`)
  return [
    ...slots(id, facts, rule),
    ...fired.filter(({ at, slot }) => at < slot).map(({ run }) => `schedule-2: ${run} was fired before its slot`),
    ...requests(id, facts),
    ...pauses(id, facts),
    ...heldBack(id, facts),
    ...(rule.emits === undefined
      ? misborn({ id, handler: stream.handler }, named, runs)
      : unsent(
          fired,
          sent.map(({ id: event }) => event),
        )),
    ...unstopped(facts, new Map<string, LookedRun>(runs.map((run) => [run.id, run]))),
    ...(rule.apart
      ? overlapping(
          runs.map((run) => spanOf(run, witness)),
          stream.handler,
        )
      : []),
  ]
}

const unsent = (fired: readonly Fired[], events: readonly string[]): readonly string[] => {
  const expected = fired.map(({ run }) => `evt_${run}`).sort()
  const same = expected.join() === events.toSorted().join()
  return same ? [] : [`coordinator-1: ${fired.length} slots were fired and ${events.length} events sent`]
}

/** schedule-1. */
const slots = (id: string, facts: readonly ScheduleFact[], { everyMs, endAt }: ScheduleRule): readonly string[] => {
  const [created] = facts
  if (created?.type !== 'schedule.created') return [`${id} does not begin with its creation`]
  const wrong: string[] = []
  for (let slot = (Math.floor(created.at / everyMs) + 1) * everyMs; slot <= endAt; slot += everyMs) {
    const ran = facts.filter(
      (fact) =>
        fact.type === 'schedule.fired' && fact.slot === slot && (fact.origin === 'slot' || fact.origin === 'missed'),
    )
    const skipped = facts.filter((fact) => fact.type === 'schedule.skipped' && fact.from <= slot && slot <= fact.to)
    if (ran.length + skipped.length !== 1)
      wrong.push(`schedule-1: slot ${slot} of ${id} ran ${ran.length} times and was skipped ${skipped.length} times`)
  }
  for (const fact of facts)
    if (fact.type === 'schedule.skipped' && fact.count !== (fact.to - fact.from) / everyMs + 1)
      wrong.push(`schedule-1: ${id} counts ${fact.count} slots from ${fact.from} to ${fact.to}`)
  return wrong
}

/** schedule-4. */
const requests = (id: string, facts: readonly ScheduleFact[]): readonly string[] => {
  const asked = facts.flatMap((fact) => (fact.type === 'schedule.requested' ? [fact.id] : []))
  const past = asked.filter((one) => one.startsWith('backfill-'))
  const ran = (origin: Fired['origin']): number =>
    facts.filter((fact) => fact.type === 'schedule.fired' && fact.origin === origin).length
  const isOnce =
    new Set(asked).size === asked.length &&
    ran('now') === asked.length - past.length &&
    ran('backfill') === past.length * BACKFILLED
  return isOnce
    ? []
    : [`schedule-4: ${id} was asked by ${asked.join()} and ran ${ran('now')} and ${ran('backfill')} times for that`]
}

/** schedule-5: during a pause it starts what a person has requested during that pause, and nothing else. */
const pauses = (id: string, facts: readonly ScheduleFact[]): readonly string[] => {
  const waiting = new Set<string>()
  let before: ReadonlySet<string> | null = null
  return facts.flatMap((fact) => {
    if (fact.type === 'schedule.paused') before = new Set(waiting)
    if (fact.type === 'schedule.resumed') before = null
    if (fact.type === 'schedule.buffered') for (const { run } of fact.runs) waiting.add(run)
    if (fact.type !== 'schedule.fired') return []
    waiting.delete(fact.run)
    const isAsked = fact.origin === 'now' || fact.origin === 'backfill'
    return before === null || (isAsked && !before.has(fact.run))
      ? []
      : [`schedule-5: ${id} fired ${fact.run} (${fact.origin}) while it was paused`]
  })
}

/** schedule-5: at the end of a pause in which nothing was running any more, nothing requested during it is still waiting. */
const heldBack = (id: string, facts: readonly ScheduleFact[]): readonly string[] => {
  const running = new Set<string>()
  const asked = new Set<string>()
  let isPaused = false
  return facts.flatMap((fact) => {
    if (fact.type === 'schedule.resumed') {
      const held = running.size === 0 ? [...asked] : []
      isPaused = false
      asked.clear()
      return held.map((run) => `schedule-5: ${id} was asked for ${run} in a pause, and did not start it`)
    }
    if (fact.type === 'schedule.paused') isPaused = true
    if (fact.type === 'schedule.buffered' && isPaused) for (const { run } of fact.runs) asked.add(run)
    if (fact.type === 'schedule.run_ended') running.delete(fact.run)
    if (fact.type !== 'schedule.fired') return []
    asked.delete(fact.run)
    running.add(fact.run)
    return []
  })
}
