/**
 * The operations of people on tasks: show, view, claim, follow up later, draft, decide, one by one or many at once.
 *
 * Owns which command each intent becomes. The caller identifies the person; the task's own rules say what the person may do.
 */
import type { EngineContext } from '#engine/core/engine-context.ts'
import { requireUncertain, taskOfUncertainStep } from '#engine/step/uncertain-step.ts'
import { compileRule } from '#manifest/expressions/rules.ts'
import { type ErrorCode, TrihandError } from '#model/kernel/errors.ts'
import type { Instant, RunId, TaskId } from '#model/kernel/ids.ts'
import { canonical, type Json, toJson } from '#model/kernel/json.ts'
import type { Verdict } from '#model/run/fact.ts'
import type { Addressee, ItemChoice, MarkVerdict, TaskCommand, TaskState } from '#model/task/fact.ts'
import { type Found, findItems, MARK_ROOTS } from '#model/task/mark.ts'
import type { Identity } from '#model/task/spec.ts'
import { actionOf, RESULT_FIELD } from '#model/task/uncertain-task.ts'
import { type Commanded, commandTask } from './command.ts'
import { loadTask } from './state.ts'

/** A task as stored in the ledger. */
export interface TaskLook {
  readonly id: TaskId
  readonly handler: string
  readonly version: number
  readonly state: Exclude<TaskState, { readonly kind: 'none' }>
}

/** The result of a command. */
export interface TaskChanged extends TaskLook {
  /** True if the same request was done before: this is its earlier result. */
  readonly isRepeated: boolean
}

/** One decision that one person submits: `{ action: 'approve', reason: 'Known customer' }`. */
export interface Decision {
  /** One of the task's actions, by name. */
  readonly action: string
  /** Why. Default: none; some actions require one. */
  readonly reason?: string | null
  /** The answer, by field. Default: no field. */
  readonly fields?: { readonly [field: string]: Json }
  /** What becomes of each item, by its id: `{ m1: { status: 'rejected' } }`. Default: as the action says. */
  readonly items?: { readonly [item: string]: ItemChoice }
  /** The hash of what the person saw: refused if the task has changed since. Default: not checked. */
  readonly shownHash?: string | null
  /** The draft revision that the person saw. Default: refused if the person has a draft that says otherwise (DRAFTS_NEWER). */
  readonly draftRevision?: number | null
  /** For `reassign`: the new assignees, `[{ id: 'leads', kind: 'group' }]`. Default: none. */
  readonly to?: readonly Addressee[]
  /** Idempotency key: the decision is applied once, however often it is sent. Default: none. */
  readonly key?: string | null
  /** The text that the person typed to confirm an action that requires it. Default: none. */
  readonly confirm?: string | null
  /** True: the person has read the action's warning and still wants the action. Default: false. */
  readonly acknowledged?: boolean
}

/** A person's answer about a step with an unknown outcome. The hash, the confirmation and the warning are those of its task. */
export interface StepAnswer extends Pick<Decision, 'shownHash' | 'confirm' | 'acknowledged' | 'key' | 'reason'> {
  readonly verdict: Verdict
  readonly by: Identity
  readonly result?: unknown
}

export type BulkOutcome =
  | { readonly task: TaskId; readonly kind: 'done'; readonly changed: TaskChanged }
  | { readonly task: TaskId; readonly kind: 'refused'; readonly code: ErrorCode; readonly detail: string }

const MAX_BULK = 100

type TaskIntent<Command> = Command extends { readonly now: Instant; readonly by: Identity }
  ? Omit<Command, 'now' | 'by'>
  : never

export class Tasks {
  private readonly context: EngineContext

  constructor(context: EngineContext) {
    this.context = context
  }

  get now(): Instant {
    return this.context.clock.now()
  }

  async show(id: TaskId): Promise<TaskLook> {
    const { state, record } = await loadTask(this.context, id)
    return lookOf(id, record, state)
  }

  view(id: TaskId, by: Identity): Promise<TaskChanged> {
    return this.intent(id, by, { type: 'view_task' })
  }

  claim(id: TaskId, by: Identity): Promise<TaskChanged> {
    return this.intent(id, by, { type: 'claim_task' })
  }

  unclaim(id: TaskId, by: Identity): Promise<TaskChanged> {
    return this.intent(id, by, { type: 'unclaim_task' })
  }

  /** Null content deletes the draft. If the draft revision that it is based on is given, it does not replace a newer one. */
  saveDraft(
    id: TaskId,
    by: Identity,
    draft: { readonly item: string | null; readonly content: Json; readonly draftRevision?: number | null },
  ): Promise<TaskChanged> {
    const { item, content, draftRevision: draftsSeen = null } = draft
    return this.intent(id, by, { type: 'save_draft', item, content, draftsSeen })
  }

  /** Marks the items that a rule finds, as drafts of this person. It decides nothing. */
  async markWhere(
    id: TaskId,
    by: Identity,
    { where, verdict }: { readonly where: string; readonly verdict: MarkVerdict },
  ): Promise<TaskChanged & { readonly found: Found }> {
    const rule = compileRule(where, MARK_ROOTS)
    let found: Found = { items: [], unclear: [] }
    const done = await commandTask(this.context, id, (now, state) => {
      if (state.kind === 'open') found = findItems(state.items, rule)
      return { type: 'mark_items', now, by, items: found.items, verdict }
    })
    return { ...changedOf(id, done), found }
  }

  /** Hides the task from this person until the instant; null shows it again. */
  followUp(id: TaskId, by: Identity, until: Instant | null): Promise<TaskChanged> {
    return this.intent(id, by, { type: 'set_follow_up', until })
  }

  /** Submits the decision of one person. */
  submit(id: TaskId, by: Identity, decision: Decision): Promise<TaskChanged> {
    const { taskWorld: world, ids } = this.context
    const { action, reason = null, fields = {}, items = {}, shownHash = null, to = [], key = null } = decision
    const { draftRevision: draftsSeen = null, confirm = null, acknowledged = false } = decision
    const request =
      key === null
        ? null
        : {
            key: `${by.id}\n${key}`,
            hash: ids.digest(
              canonical({ action, reason, fields, items: { ...items }, shownHash, to: [...to] } as unknown as Json),
            ),
          }
    const said = { action, reason, fields, items, shownHash, to, draftsSeen, confirm, acknowledged }
    const intent = { type: 'decide_task', world, ...said, request } as const
    return this.intent(id, by, intent, (state) => requireUncertain(this.context, id, state))
  }

  /** Returns the task that asks people if the effect of this step took place. */
  ofStep(run: RunId, step: string): Promise<TaskId> {
    return taskOfUncertainStep(this.context, run, step)
  }

  /** uncertain-step-2. Returns the task that was decided. */
  async resolve(run: RunId, step: string, { verdict, by, result, ...answer }: StepAnswer): Promise<TaskId> {
    const fields = result === undefined ? {} : { [RESULT_FIELD]: toJson(result) }
    const task = await this.ofStep(run, step)
    await this.submit(task, by, { ...answer, action: actionOf(verdict), fields })
    return task
  }

  /** Each decision has its own checks and its own append: a refusal of one does not affect the others. */
  async submitMany(
    by: Identity,
    decisions: readonly (Decision & { readonly task: TaskId })[],
  ): Promise<readonly BulkOutcome[]> {
    if (decisions.length > MAX_BULK)
      throw new TrihandError(
        'INPUT_INVALID',
        `${decisions.length} decisions in one request; at most ${MAX_BULK} are allowed`,
      )
    return Promise.all(decisions.map(({ task, ...decision }) => this.attempt(task, by, decision)))
  }

  private async attempt(task: TaskId, by: Identity, decision: Decision): Promise<BulkOutcome> {
    try {
      return { task, kind: 'done', changed: await this.submit(task, by, decision) }
    } catch (error) {
      if (!(error instanceof TrihandError)) throw error
      return { task, kind: 'refused', code: error.code, detail: error.detail }
    }
  }

  private async intent(
    id: TaskId,
    by: Identity,
    intent: TaskIntent<TaskCommand>,
    requireState?: (state: TaskState) => Promise<void>,
  ): Promise<TaskChanged> {
    const command = (now: Instant): TaskCommand => ({ ...intent, now, by }) as unknown as TaskCommand
    return changedOf(id, await commandTask(this.context, id, command, requireState))
  }
}

const changedOf = (id: TaskId, { state, facts, record }: Commanded): TaskChanged => ({
  ...lookOf(id, { ...record, version: record.version + facts.length }, state),
  isRepeated: facts.length === 0,
})

const lookOf = (
  id: TaskId,
  { handler, version }: { readonly handler: string; readonly version: number },
  state: TaskState,
): TaskLook => {
  if (state.kind === 'none') throw new TrihandError('LEDGER_CORRUPT', `${id} has no beginning`)
  return { id, handler, version, state }
}
