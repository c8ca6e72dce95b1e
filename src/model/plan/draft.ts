/**
 * A plan that people write down, look at and approve before it runs: its revisions and its approvals.
 *
 * Owns the life cycle of a draft. manifest/plan/reading.ts finds out before whether a plan can be executed at all; its result arrives with the
 * command. executors/workflow/plan/plan.ts executes the steps.
 *
 * plan-draft-1  An approval is for one revision, by its hash: another revision has none.
 * plan-draft-2  Only a person approves, and never a plan with errors.
 * plan-draft-3  A revision is based on the version that its writer has seen, or is refused.
 * plan-draft-4  The hash covers what was shown. A plan that the system would show differently now is neither approved nor run.
 * plan-draft-5  A plan that was shown with its input runs only with that input.
 */
import type { ErrorCode } from '#model/kernel/errors.ts'
import type { Instant, PlanId } from '#model/kernel/ids.ts'
import { canonical, type Json } from '#model/kernel/json.ts'
import { type Decision, facts, type Machine, type Refusal, refuse } from '#model/kernel/machine.ts'
import type { Modality } from '#model/kernel/modality.ts'
import type { Identity } from '#model/task/spec.ts'
import type { NamedBy, ShownStep } from './shown.ts'
import type { PlanStepSource } from './source.ts'

/** The function of every run of a drafted plan. A user cannot give a function this name: it has a dot. */
export const PLAN_RUN = 'trihand.plan'
/** The table in which a run of a plan records that it has started. */
export const planRunsTable = (plan: PlanId): string => `trihand.plan-runs.${plan}`

/** The work of a plan, and everything that the hash of a revision covers. */
export interface PlanContent {
  readonly goal: string
  readonly steps: readonly PlanStepSource[]
  /** The modality of each handler that does a step, as it was when the plan was read. */
  readonly hands: { readonly [name: string]: Modality }
  /** The lines that people are shown, computed once (shown.ts). Absent: the plan was written by a version that did not store them. */
  readonly lines?: readonly ShownStep[]
  readonly goalBy?: NamedBy
  /** The input of every run, if it was shown with the steps. Absent: each run is given its own. */
  readonly worksOn?: Json
}

export interface PlanProblem {
  readonly code: ErrorCode
  /** The line of the text; null: the plan was not written as text. */
  readonly line: number | null
  readonly step: string | null
  readonly message: string
}

/** A revision as it was read: its work, what people are shown, and its problems. */
export interface PlanRevision extends PlanContent {
  readonly hash: string
  readonly text: string
  /** True if the text is all there is of the plan: then people change the text. */
  readonly isText: boolean
  readonly lines: readonly ShownStep[]
  readonly goalBy: NamedBy
  readonly problems: readonly PlanProblem[]
}

export interface PlanApproval {
  readonly hash: string
  readonly revision: number
  readonly by: string
  readonly at: Instant
}

export interface PlanDraft {
  readonly kind: 'draft'
  readonly id: PlanId
  /** How often the draft was changed: by a revision, an approval, or because it was discarded. */
  readonly version: number
  readonly revision: number
  readonly current: PlanRevision
  /** The approvals of every revision that was approved, oldest first. */
  readonly approvals: readonly PlanApproval[]
  readonly isDiscarded: boolean
  readonly createdAt: Instant
  readonly createdBy: string
  readonly changedAt: Instant
}

export type PlanState = { readonly kind: 'none' } | PlanDraft

type Now = { readonly now: Instant }
type At = { readonly at: Instant; readonly by: string }

export type PlanCommand =
  | (Now & { readonly type: 'propose_plan'; readonly id: PlanId; readonly by: string; readonly content: PlanRevision })
  | (Now & {
      readonly type: 'revise_plan'
      readonly by: string
      readonly version: number
      readonly content: PlanRevision
    })
  | (Now & {
      readonly type: 'approve_plan'
      readonly by: Pick<Identity, 'id' | 'kind'>
      readonly hash: string
      /** The hash of the same steps as the system would show them now. */
      readonly shown: string
    })
  | (Now & { readonly type: 'discard_plan'; readonly by: string })

export type PlanFact =
  | (At & { readonly type: 'plan.proposed'; readonly id: PlanId; readonly content: PlanRevision })
  | (At & { readonly type: 'plan.revised'; readonly content: PlanRevision })
  | (At & { readonly type: 'plan.approved'; readonly hash: string })
  | (At & { readonly type: 'plan.discarded' })

/** Returns the approval of the current revision; null: there is none. */
export const approvalOf = ({ approvals, current, isDiscarded }: PlanDraft): PlanApproval | null =>
  isDiscarded ? null : (approvals.find(({ hash }) => hash === current.hash) ?? null)

export const PLAN_STATUSES = ['draft', 'approved', 'discarded'] as const

export const planStatus = (plan: PlanDraft): (typeof PLAN_STATUSES)[number] => {
  if (plan.isDiscarded) return 'discarded'
  return approvalOf(plan) === null ? 'draft' : 'approved'
}

const stale = ({ current, revision }: PlanDraft, hash: string): Refusal =>
  refuse('PLAN_STALE', `${hash} is not the current plan: revision ${revision} has the hash ${current.hash}`)

const changed = ({ current }: PlanDraft): Refusal =>
  refuse('PLAN_STALE', `its steps have changed since ${current.hash} was shown; revise the plan to see the changes`)

const discarded = ({ id }: PlanDraft): Refusal => refuse('PLAN_STALE', `${id} was discarded; revise it to continue`)

const approve = (plan: PlanDraft, command: Extract<PlanCommand, { type: 'approve_plan' }>): Decision<PlanFact> => {
  const { now: at, by, hash, shown } = command
  // plan-draft-2
  if (by.kind !== 'user') return refuse('AGENT_CANNOT_DECIDE', `${by.id} is of kind ${by.kind}; only a person approves`)
  if (plan.isDiscarded) return discarded(plan)
  // plan-draft-1
  if (hash !== plan.current.hash) return stale(plan, hash)
  // plan-draft-4
  if (shown !== hash) return changed(plan)
  const [problem] = plan.current.problems
  if (problem !== undefined) return refuse(problem.code, problem.message)
  return approvalOf(plan) === null ? facts({ type: 'plan.approved', at, by: by.id, hash }) : facts()
}

const decideDraft = (plan: PlanDraft, command: PlanCommand): Decision<PlanFact> => {
  switch (command.type) {
    case 'propose_plan':
      return command.content.hash === plan.current.hash ? facts() : stale(plan, command.content.hash)
    case 'revise_plan': {
      const { now: at, by, version, content } = command
      // plan-draft-3
      if (version !== plan.version)
        return refuse(
          'PRECONDITION_FAILED',
          `the plan is at version ${plan.version}; the request names version ${version}`,
        )
      return facts({ type: 'plan.revised', at, by, content })
    }
    case 'approve_plan':
      return approve(plan, command)
    case 'discard_plan':
      return plan.isDiscarded ? facts() : facts({ type: 'plan.discarded', at: command.now, by: command.by })
  }
}

const evolveDraft = (plan: PlanDraft, fact: PlanFact): PlanDraft => {
  const next = { ...plan, version: plan.version + 1, changedAt: fact.at }
  switch (fact.type) {
    case 'plan.proposed':
      return plan
    case 'plan.revised':
      return { ...next, revision: plan.revision + 1, current: fact.content, isDiscarded: false }
    case 'plan.approved': {
      const { hash, by, at } = fact
      return { ...next, approvals: [...plan.approvals, { hash, by, at, revision: plan.revision }] }
    }
    case 'plan.discarded':
      return { ...next, isDiscarded: true }
  }
}

export const planDraft: Machine<PlanState, PlanCommand, PlanFact> = {
  initial: { kind: 'none' },

  decide(state, command) {
    if (state.kind === 'draft') return decideDraft(state, command)
    if (command.type !== 'propose_plan') return refuse('NOT_FOUND', 'the plan does not exist')
    const { now: at, id, by, content } = command
    return facts({ type: 'plan.proposed', at, id, by, content })
  },

  evolve(state, fact) {
    if (state.kind === 'draft') return evolveDraft(state, fact)
    if (fact.type !== 'plan.proposed') return state
    const { id, at, by, content } = fact
    return {
      kind: 'draft',
      ...{ id, version: 1, revision: 1, current: content, approvals: [], isDiscarded: false },
      ...{ createdAt: at, createdBy: by, changedAt: at },
    }
  },
}

/** What a run of a plan is given: it contains the steps, so that no later revision and no deploy changes them. */
export interface PlanRunInput extends PlanContent {
  readonly plan: PlanId
  readonly hash: string
  readonly input: Json
}

/** plan-draft-5. */
export const worksOnThis = ({ worksOn }: PlanContent, input: Json): boolean =>
  worksOn === undefined || canonical(worksOn) === canonical(input)

/** `now`: the hash of the same steps in the system as it is now. `given`: if absent, the input that the plan was shown with, or an empty one. */
export const orderOf = (plan: PlanDraft, now: string, given?: Json): PlanRunInput | Refusal => {
  const { goal, steps, hands, lines, goalBy, worksOn, hash } = plan.current
  const input = given ?? worksOn ?? {}
  if (plan.isDiscarded) return discarded(plan)
  if (approvalOf(plan) === null)
    return refuse('PLAN_NOT_APPROVED', `revision ${plan.revision}, ${hash}, is not approved`)
  // plan-draft-4
  if (now !== hash) return changed(plan)
  if (!worksOnThis(plan.current, input))
    return refuse('INPUT_INVALID', `${hash} was approved together with its input: omit the input, or revise the plan`)
  return {
    plan: plan.id,
    hash,
    goal,
    steps,
    hands,
    lines,
    goalBy,
    ...(worksOn === undefined ? {} : { worksOn }),
    input,
  }
}
