/**
 * A small valid ledger that contains a case for every invariant that can be checked from the ledger alone.
 *
 * Owns one story per feature of a run. Tests of the checker start with it, or add one bad run to it.
 */
import { gateId, type RunId, type SessionId } from '#model/kernel/ids.ts'
import type { Checkpoint } from '#model/session/session.ts'
import { aWait, fact, started } from '#test/support/stories/run-story.ts'
import {
  ana,
  aSpec,
  HOUR,
  hashOf,
  history,
  open,
  passTime,
  RUN,
  submit,
  to,
  view,
} from '#test/support/stories/task-story.ts'
import { digest, type LedgerByHand } from './ledger-by-hand.ts'

/** Later than the clock of any test. */
export const FAR = 9_000_000_000_000

export interface CleanLedger {
  readonly paid: RunId
  readonly parent: RunId
  readonly session: SessionId
}

/** Started by an event, with a blob, a retry, an emitted event and a once effect that was uncertain. */
const writePaid = async (ledger: LedgerByHand): Promise<RunId> => {
  const event = await ledger.event({ type: 'order.paid' })
  await ledger.suppressed(event, 'archive-order')
  const blob = await ledger.blob(JSON.stringify('a large result'))
  const id = ledger.newRun()
  await ledger.event({ id: 'evt-sent', type: 'mail.sent', causation: id, chain: ['send-invoice'] })
  return ledger.run(
    [
      started({ input: { kind: 'event' } }),
      fact('step.retry_scheduled', { step: 'fetch', at: 20, wakeAt: 120 }),
      fact('step.retry_due', { step: 'fetch', at: 120 }),
      fact('step.completed', { step: 'fetch', at: 130, attempt: 2, result: { blob, bytes: 16 } }),
      fact('step.intended', { step: 'mail', at: 140 }),
      fact('step.uncertain', { step: 'mail', at: 150 }),
      fact('step.resolved', { step: 'mail', at: 160, verdict: 'run_again', result: null }),
      fact('step.intended', { step: 'mail', at: 170 }),
      fact('step.late_result', { step: 'mail', at: 175 }),
      fact('step.completed', { step: 'mail', at: 180, events: ['evt-sent'] }),
      fact('run.completed', { at: 190 }),
      fact('step.late_result', { step: 'other', at: 200 }),
    ],
    { id, event },
  )
}

const writeParent = async (ledger: LedgerByHand): Promise<RunId> => {
  const [parent, child] = [ledger.newRun(), ledger.newRun()]
  await ledger.run([started(), fact('child.started', { step: 'call', child })], { id: parent })
  await ledger.run([started({ parentStep: 'call', depth: 1 }), fact('timer.set', { wakeAt: FAR })], {
    id: child,
    parent,
  })
  return parent
}

const writeWaiting = async (ledger: LedgerByHand): Promise<void> => {
  const shipped = await ledger.event({ type: 'order.shipped', data: { order: { id: 8 } } })
  const match = { path: 'order.id', value: '8' }
  const both = aWait({
    mode: 'all',
    types: ['order.shipped', 'order.signed'],
    match,
    base: shipped - 1,
    timeoutAt: FAR,
  })
  await ledger.run([
    started(),
    fact('wait.opened', { step: 'both', wait: both }),
    fact('wait.received', { step: 'both', event: { type: 'order.shipped', sequence: shipped } }),
    fact('timer.set', { step: 'nap', wakeAt: 30 }),
    fact('timer.fired', { step: 'nap', at: 30 }),
    fact('wait.opened', { step: 'short', at: 30, wait: aWait({ types: ['order.lost'], timeoutAt: 40 }) }),
    fact('wait.timed_out', { step: 'short', at: 40 }),
  ])
}

const writeEnds = async (ledger: LedgerByHand): Promise<void> => {
  await ledger.run([started(), fact('run.cancel_requested', { at: 20 }), fact('run.cancelled', { at: 30 })])
  await ledger.run([started({ startBy: 15 }), fact('run.expired', { at: 20 })])
  await ledger.run([
    started(),
    fact('run.retry_scheduled', { at: 10, wakeAt: 50 }),
    fact('run.retry_due', { at: 50 }),
    fact('step.failed', { step: 'fetch', at: 60 }),
    fact('run.failed', { at: 60 }),
    fact('run.retried', { at: 70 }),
    fact('step.completed', { step: 'fetch', at: 80 }),
    fact('run.completed', { at: 90 }),
  ])
  await ledger.run([started(), fact('step.completed')], { lease: 'wrk-1', wakeAt: null })
  await ledger.run([started()], { status: 'queued', wakeAt: 10, epoch: 0 })
}

const writeSessions = async (ledger: LedgerByHand): Promise<SessionId> => {
  const root = await ledger.blob('{"city":{"value":"Lima"}}')
  const checkpoint = (id: string, ...parents: readonly string[]): Checkpoint => ({ id, parents, root })
  const mode = 'interactive'
  const session = await ledger.session([
    { type: 'session.created', at: 10, mode, base: null },
    { type: 'session.changed', at: 20, key: null, set: { city: { blob: root, bytes: 25 } }, unset: [] },
    { type: 'session.checkpointed', at: 30, mode, checkpoint: checkpoint('cp-1') },
    { type: 'session.checkpointed', at: 40, mode, checkpoint: checkpoint('cp-2', 'cp-1') },
  ])
  await ledger.session([
    { type: 'session.created', at: 50, mode, base: { session, checkpoint: checkpoint('cp-1') } },
    { type: 'session.checkpointed', at: 60, mode, checkpoint: checkpoint('cp-3', 'cp-1') },
  ])
  return session
}

/** Reminded, timed out and escalated; then viewed and decided by a person. */
const writeTask = async (ledger: LedgerByHand): Promise<void> => {
  const level = (name: string) => ({ to: to(name), deadline: { kind: 'after', ms: 2 * HOUR } as const })
  const spec = aSpec({
    levels: [level('bob'), level('group:editors')],
    reminders: { kind: 'before', beforeMs: [HOUR] },
    autoAction: 'escalate',
  })
  const shownHash = hashOf(spec)
  const facts = history(
    open(spec),
    passTime(HOUR),
    passTime(2 * HOUR),
    view(ana, 2 * HOUR + 1),
    submit('approve', { now: 2 * HOUR + 2, shownHash }),
  )
  const task = await ledger.task(facts)
  await ledger.task(history(open(aSpec())))
  const end = { kind: 'done', result: { value: null } } as const
  await ledger.run(
    [
      started(),
      fact('child.started', { step: 'ask', child: task }),
      fact('child.ended', { step: 'ask', child: task, end, at: 3 * HOUR }),
      fact('run.completed', { at: 3 * HOUR }),
    ],
    { id: RUN },
  )
}

/** The state of a throttle in which one run has begun. */
const writeStarts = async (ledger: LedgerByHand, run: RunId): Promise<void> => {
  const rule = { limit: 1, periodMs: 1_000, burst: 1 }
  const pace = { idle: { at: 1_020, part: 0 }, tail: null, generation: 0 }
  const after = { at: 20, key: 'k', run, cost: 1, pace, forgetAt: 2_020 }
  await ledger.coordinator(
    gateId(digest('starts')),
    [
      { type: 'gate.opened', at: 10, cursor: 0 },
      { type: 'gate.start_given', ...after },
      { type: 'gate.start_made', rule, ...after },
    ],
    { handler: 'limits.starts.of.send-invoice' },
  )
}

export const writeCleanLedger = async (ledger: LedgerByHand): Promise<CleanLedger> => {
  const paid = await writePaid(ledger)
  const parent = await writeParent(ledger)
  await writeWaiting(ledger)
  await writeEnds(ledger)
  const session = await writeSessions(ledger)
  await writeTask(ledger)
  await writeStarts(ledger, paid)
  return { paid, parent, session }
}
