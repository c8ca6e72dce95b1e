/**
 * Runs that wait for the end of a run that is not their own: a call with `return_existing` met the run that has its key.
 *
 * Owns who is notified, and when. engine/wait/reconcile.ts decides what the end means for the follower.
 *
 * gate-6  A run that follows another is notified once the followed run has ended or will never start.
 */
import { valueAt } from '#model/kernel/due-map.ts'
import type { RunId } from '#model/kernel/ids.ts'
import { type Decision, facts } from '#model/kernel/machine.ts'
import type { GateCommand, GateFact, OpenGate } from './gate-fact.ts'

interface Following {
  readonly run: RunId
  readonly by: RunId
}

const followersIn = ({ followers = [] }: OpenGate): readonly Following[] => followers

const isSame = (one: Following, other: Following): boolean => one.run === other.run && one.by === other.by

export const isFollowed = (gate: OpenGate, run: RunId): boolean => followersIn(gate).some((one) => one.run === run)

export const follow = (
  gate: OpenGate,
  { now: at, run, by }: Extract<GateCommand, { readonly type: 'follow' }>,
): Decision<GateFact> =>
  followersIn(gate).some((one) => isSame(one, { run, by })) ? facts() : facts({ type: 'gate.followed', at, run, by })

export const addFollower = (gate: OpenGate, { run, by }: Following): OpenGate => ({
  ...gate,
  followers: [...followersIn(gate), { run, by }],
})

export const dropFollower = (gate: OpenGate, gone: Following): OpenGate => ({
  ...gate,
  followers: followersIn(gate).filter((one) => !isSame(one, gone)),
})

/** Returns the runs of whose end the gate must be notified although none of its policies asks for that. */
export const followedOnly = (gate: OpenGate): readonly RunId[] => [
  ...new Set(followersIn(gate).flatMap(({ run }) => (valueAt(gate.runs, run) === undefined ? [run] : []))),
]

const overBy = (command: GateCommand, decided: readonly GateFact[]): ReadonlySet<RunId> => {
  const over = new Set(command.type === 'end_runs' ? command.ended.map(({ run }) => run) : [])
  for (const fact of decided) {
    if (fact.type !== 'trigger.suppressed') continue
    if (fact.call !== undefined) over.add(fact.call.run)
    else if ('runOf' in command) over.add(command.runOf(fact.sequence))
  }
  return over
}

/** gate-6: adds the followers that must be notified of runs that end with this decision. */
export const withFollowersNotified = (
  gate: OpenGate,
  command: GateCommand,
  decision: Decision<GateFact>,
): Decision<GateFact> => {
  const followers = followersIn(gate)
  if (decision.kind === 'refused' || followers.length === 0) return decision
  const over = overBy(command, decision.facts)
  const told = followers
    .filter(({ run }) => over.has(run))
    .map(({ run, by }): GateFact => ({ type: 'gate.unfollowed', at: command.now, run, by }))
  return told.length === 0 ? decision : { kind: 'facts', facts: [...decision.facts, ...told] }
}
