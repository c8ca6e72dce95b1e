/**
 * How facts about steps change a live run: opened, settled, made uncertain, answered by a child or a person.
 *
 * Owns that part of the run's fold. What may be recorded is decided in run.ts and its rules.
 */
import { adopt, consume, opened } from '#model/event/consumed.ts'
import { openWait as beginWait, isOver, missing, receive } from '#model/event/wait.ts'
import { type ChildId, isTaskId } from '#model/kernel/ids.ts'
import { NOTHING } from '#model/kernel/payload.ts'
import { failedCall } from './child-retry.ts'
import type { LiveRun, RunFact } from './fact.ts'
import { changed } from './live-run.ts'
import type { OpenStep, SettledStep } from './step.ts'
import { keepFrozen, thawed } from './uncertain-step.ts'

type Fact<Type extends RunFact['type']> = Extract<RunFact, { readonly type: Type }>

export const settle = (run: LiveRun, step: string, settled: SettledStep): LiveRun =>
  run.settled.has(step) ? run : changed(run, { open: run.open.without(step), settled: run.settled.with(step, settled) })

export const open = (run: LiveRun, step: string, state: OpenStep): LiveRun =>
  run.settled.has(step) ? run : changed(run, { open: run.open.with(step, state) })

/** run-4. A task that comes back after a revision was asked before, and is not added again. */
export const asked = (run: LiveRun, child: ChildId): LiveRun =>
  isTaskId(child) && !run.tasks.includes(child) ? changed(run, { tasks: [...run.tasks, child] }) : run

export const intended = (run: LiveRun, fact: Fact<'step.intended'>): LiveRun => {
  const { step, attempt, effectKey, performer, evidence } = fact
  return open(run, step, {
    ...{ kind: 'intended', attempt, effectKey },
    ...(performer !== undefined && { performer }),
    ...(evidence !== undefined && { evidence }),
  })
}

export const recordUncertain = (run: LiveRun, fact: Fact<'step.uncertain'>): LiveRun => {
  const before = run.open.get(fact.step)
  const begun = before?.kind === 'intended' || before?.kind === 'uncertain' ? before : NOT_BEGUN
  const { attempt, reason, task = null, over = false, instead } = fact
  const renamed = instead === undefined ? {} : { instead }
  const state: OpenStep = { ...begun, kind: 'uncertain', attempt, reason, task, isOver: over, ...renamed }
  return open(task === null ? run : asked(run, task), fact.step, state)
}

const NOT_BEGUN = { effectKey: '' } as const

/** Adds evidence to the attempt that it belongs to; an answer of an earlier attempt does not change the open step. */
export const recordLateResult = (run: LiveRun, fact: Fact<'step.late_result'>): LiveRun => {
  const before = run.open.get(fact.step)
  if (before?.kind !== 'intended' && before?.kind !== 'uncertain') return heardFrozen(run, fact)
  if (fact.performer !== before.performer?.id) return heardFrozen(run, fact)
  const late = { at: fact.at, result: fact.result, error: fact.error }
  return open(run, fact.step, before.kind === 'intended' ? { ...before, late } : { ...before, late, isOver: true })
}

const heardFrozen = (run: LiveRun, { step, performer }: Fact<'step.late_result'>): LiveRun =>
  run.frozen.size === 0 ? run : changed(run, { frozen: thawed(run, step, performer) })

/** A person has decided how these steps relate to another one: they are not asked about again. */
const accounted = (run: LiveRun, steps: readonly string[]): LiveRun => {
  let { settled } = run
  for (const step of steps) {
    const done = settled.get(step)
    if (done?.kind === 'done') settled = settled.with(step, { kind: 'done', result: done.result })
  }
  return settled === run.settled ? run : changed(run, { settled })
}

export const resolved = (before: LiveRun, fact: Fact<'step.resolved'>): LiveRun => {
  const open = before.open.get(fact.step)
  const uncertain = open?.kind === 'uncertain' ? open : null
  const task = uncertain?.task ?? null
  const rest = task === null ? before : changed(before, { tasks: before.tasks.filter((one) => one !== task) })
  const run = uncertain !== null && fact.verdict !== 'abort' ? accounted(rest, uncertain.instead ?? []) : rest
  switch (fact.verdict) {
    case 'happened':
      return settle(run, fact.step, { kind: 'done', result: fact.result ?? NOTHING, once: true })
    case 'abort':
      return settle(run, fact.step, {
        kind: 'failed',
        error: { code: 'STEP_REFUSED', message: `${fact.by} aborted the step` },
        ...(uncertain !== null && { uncertain: { ...uncertain, task: null } }),
      })
    case 'run_again':
      return changed(run, {
        open: run.open.without(fact.step),
        ...(uncertain !== null && { frozen: keepFrozen(run, fact.step, uncertain) }),
      })
  }
}

/** A reused result counts as if it had been recorded in this run. */
export const reused = (before: LiveRun, { step, settled, told }: Fact<'step.reused'>): LiveRun => {
  const run = told === true ? changed(before, { hasTold: true }) : before
  if (settled.kind !== 'received') return settle(run, step, settled)
  return settle(changed(run, { consumed: adopt(run.consumed, settled.events) }), step, settled)
}

export const childEnded = (run: LiveRun, { step, child, end }: Fact<'child.ended'>): LiveRun => {
  const isOver = isTaskId(child) && (end.kind === 'failed' || end.open !== true)
  const rest = isOver ? changed(run, { tasks: run.tasks.filter((task) => task !== child) }) : run
  return settle(
    rest,
    step,
    end.kind === 'done'
      ? { kind: 'done', result: end.result }
      : { kind: 'failed', error: end.error, ...failedCall(run.open.get(step)) },
  )
}

export const waitOpened = (run: LiveRun, { step, wait }: Fact<'wait.opened'>): LiveRun => {
  const consumed = opened(run.consumed, wait)
  const after = consumed === run.consumed ? run : changed(run, { consumed })
  return open(after, step, { kind: 'waiting', wait: beginWait(wait) })
}

export const received = (run: LiveRun, fact: Fact<'wait.received'>): LiveRun => {
  const before = run.open.get(fact.step)
  if (before?.kind !== 'waiting') return run
  const events = fact.others === undefined ? [fact.event] : [fact.event, ...fact.others]
  const wait = receive(before.wait, ...events)
  const after = changed(run, { consumed: consume(run.consumed, wait.spec, events) })
  if (!isOver(wait)) return open(after, fact.step, { kind: 'waiting', wait })
  return settle(after, fact.step, { kind: 'received', events: wait.received, timedOut: false, missing: [] })
}

export const timedOut = (run: LiveRun, step: string): LiveRun => {
  const before = run.open.get(step)
  if (before?.kind !== 'waiting') return run
  return settle(run, step, {
    kind: 'received',
    events: before.wait.received,
    timedOut: true,
    missing: missing(before.wait),
  })
}
