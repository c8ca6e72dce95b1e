/**
 * How facts about steps change a live run: opened, settled, doubted, answered by a child or a person.
 *
 * Owns that part of the run's fold. What may be recorded is run.ts and its rules.
 */
import { type ChildId, isTaskId } from './ids.ts'
import { changed } from './live-run.ts'
import { NOTHING } from './payload.ts'
import type { LiveRun, RunFact } from './run-fact.ts'
import type { OpenStep, SettledStep } from './step.ts'

type Fact<Type extends RunFact['type']> = Extract<RunFact, { readonly type: Type }>

export const settle = (run: LiveRun, step: string, settled: SettledStep): LiveRun =>
  run.settled.has(step) ? run : changed(run, { open: run.open.without(step), settled: run.settled.with(step, settled) })

export const open = (run: LiveRun, step: string, state: OpenStep): LiveRun =>
  run.settled.has(step) ? run : changed(run, { open: run.open.with(step, state) })

/** run-4. A task that comes back with a revision was asked before. */
export const asked = (run: LiveRun, child: ChildId): LiveRun =>
  isTaskId(child) && !run.tasks.includes(child) ? changed(run, { tasks: [...run.tasks, child] }) : run

export const doubted = (run: LiveRun, fact: Fact<'step.uncertain'>): LiveRun => {
  const before = run.open.get(fact.step)
  const effectKey = before?.kind === 'intended' || before?.kind === 'uncertain' ? before.effectKey : ''
  const { attempt, reason, task = null, instead } = fact
  return open(task === null ? run : asked(run, task), fact.step, {
    kind: 'uncertain',
    attempt,
    effectKey,
    reason,
    task,
    ...(instead !== undefined && { instead }),
  })
}

/** A person has said what these have to do with another step: they are not asked about again. */
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
  const task = open?.kind === 'uncertain' ? open.task : null
  const rest = task === null ? before : changed(before, { tasks: before.tasks.filter((one) => one !== task) })
  const run = open?.kind === 'uncertain' && fact.verdict !== 'abort' ? accounted(rest, open.instead ?? []) : rest
  switch (fact.verdict) {
    case 'happened':
      return settle(run, fact.step, { kind: 'done', result: fact.result ?? NOTHING, once: true })
    case 'abort':
      return settle(run, fact.step, {
        kind: 'failed',
        error: { code: 'STEP_REFUSED', message: `${fact.by} aborted the step` },
      })
    case 'run_again':
      return changed(run, { open: run.open.without(fact.step) })
  }
}

/** A result of another run stands as if it had come here. */
export const reused = (run: LiveRun, { step, settled, told }: Fact<'step.reused'>): LiveRun =>
  settle(told === true ? changed(run, { hasTold: true }) : run, step, settled)

export const childEnded = (run: LiveRun, { step, child, end }: Fact<'child.ended'>): LiveRun => {
  const isOver = isTaskId(child) && (end.kind === 'failed' || end.open !== true)
  const rest = isOver ? changed(run, { tasks: run.tasks.filter((task) => task !== child) }) : run
  return settle(
    rest,
    step,
    end.kind === 'done' ? { kind: 'done', result: end.result } : { kind: 'failed', error: end.error },
  )
}
