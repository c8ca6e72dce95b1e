/**
 * The rules of everything a run waits for: time, events, children.
 *
 * Owns when a wait begins and ends. Never looks for events or children itself: they arrive in the command.
 *
 * waiting-1  A timer never fires before its instant.
 * waiting-2  Beginning a wait again changes nothing: the first instant, spec or child counts.
 */
import type { Instant } from '#model/kernel/ids.ts'
import { type Decision, facts } from '#model/kernel/machine.ts'
import { callOf } from '#model/run/child-retry.ts'
import type { LiveRun, RunCommand, RunFact } from '#model/run/fact.ts'
import { consumedRules } from './consumed.ts'
import { receivable } from './wait.ts'

type Command<Type extends RunCommand['type']> = Extract<RunCommand, { readonly type: Type }>

/** waiting-2. */
const hasBegun = (run: LiveRun, step: string): boolean => run.settled.has(step) || run.open.has(step)

export const setTimer = (run: LiveRun, command: Command<'set_timer'>): Decision<RunFact> =>
  hasBegun(run, command.step)
    ? facts()
    : facts({ type: 'timer.set', at: command.now, step: command.step, wakeAt: command.wakeAt })

export const openWait = (run: LiveRun, command: Command<'open_wait'>): Decision<RunFact> =>
  hasBegun(run, command.step)
    ? facts()
    : facts({ type: 'wait.opened', at: command.now, step: command.step, wait: command.wait })

export const receiveEvent = (run: LiveRun, command: Command<'receive_event'>): Decision<RunFact> => {
  const open = run.open.get(command.step)
  if (open?.kind !== 'waiting') return facts()
  const { now: at, step, passed = [], others = [] } = command
  // An event that this wait left to another wait was not received there after all: it would come before these.
  if (passed.some((sequence) => !run.consumed.events.has(sequence))) return facts()
  // The candidates were chosen outside; a repeat or an outdated choice must not count here either.
  const free = [command.event, ...others].filter(({ sequence }) =>
    consumedRules.isFree(run.consumed, open.wait.spec, sequence),
  )
  const [event, ...rest] = receivable(open.wait, free)
  if (event === undefined) return facts()
  const received = { type: 'wait.received', at, step, event } as const
  return facts(rest.length === 0 ? received : { ...received, others: rest })
}

export const startChild = (run: LiveRun, command: Command<'start_child'>): Decision<RunFact> => {
  const { now, step, child } = command
  if (hasBegun(run, step)) return facts()
  return facts({ type: 'child.started', at: now, step, child, ...callOf(command) })
}

export const endChild = (run: LiveRun, command: Command<'end_child'>): Decision<RunFact> => {
  const open = run.open.get(command.step)
  if (open?.kind !== 'calling' || open.child !== command.child) return facts()
  const { now, step, child, end } = command
  return facts({ type: 'child.ended', at: now, step, child, end })
}

type DueFact = Extract<RunFact, { readonly type: 'timer.fired' | 'step.retry_due' | 'wait.timed_out' }>

/** The facts for everything that time alone has ended by `now` (waiting-1), ordered by instant, then by name. */
export const dueFacts = (run: LiveRun, now: Instant): readonly RunFact[] => {
  const due: { readonly at: Instant; readonly fact: DueFact }[] = []
  for (const [step, open] of run.open.entries()) {
    if (open.kind === 'sleeping' && open.wakeAt <= now)
      due.push({ at: open.wakeAt, fact: { type: 'timer.fired', at: now, step } })
    if (open.kind === 'retrying' && open.wakeAt !== null && open.wakeAt <= now) {
      due.push({ at: open.wakeAt, fact: { type: 'step.retry_due', at: now, step } })
    }
    if (open.kind === 'waiting' && open.wait.spec.timeoutAt !== null && open.wait.spec.timeoutAt <= now) {
      due.push({ at: open.wait.spec.timeoutAt, fact: { type: 'wait.timed_out', at: now, step } })
    }
  }
  return due.sort((a, b) => a.at - b.at || (a.fact.step < b.fact.step ? -1 : 1)).map((entry) => entry.fact)
}
