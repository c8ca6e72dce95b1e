/**
 * Executes a plan: each step by the handler assigned to it, as soon as the steps that it requires have ended, in parallel where possible.
 *
 * Owns what a step sees of the others, and what happens when one fails. It is an ordinary function over steps: each is recorded under
 * its own id, so a plan continues where it was. Which step may begin is model/plan/plan.ts.
 *
 * plan-run-2  No step of a declared plan begins before people have approved these very steps, whatever was deployed meanwhile.
 */

import { taskOutput } from '#executors/task-output.ts'
import type { InputWhenBegun, InvokeStepOptions, Replayed, Retrying, Step } from '#executors/workflow/step-api.ts'
import { partialIn } from '#model/agent/call-terms.ts'
import { TrihandError } from '#model/kernel/errors.ts'
import { isJsonRecord, type Json } from '#model/kernel/json.ts'
import {
  type Answered,
  answeredIn,
  planEnd,
  refusalText,
  refusedAt,
  type StepEnd,
  SUCCESS,
  skippedFor,
  skipRecord,
} from '#model/plan/end.ts'
import { type Asked, againFor, type PlanSpec, type PlanStep } from '#model/plan/plan.ts'
import { type ShownPlan, stepMembers } from '#model/plan/shown.ts'
import { partial } from '#model/run/partial.ts'
import { isLoopKey } from '#model/run/step.ts'
import { isStepFailure, whatHappened } from '#model/run/step-failure.ts'
import type { TaskOptions } from '#model/task/source.ts'
import type { Roots } from '#model/workflow/spec.ts'
import type { AskReply } from '#ports/step-port.ts'
import { reviewedAnswer } from './judge.ts'
import { asksPeople, type Ended, leftOut, Refusal, WITHDRAWN } from './refusal.ts'
import { beside, Seen } from './seen.ts'
import { type Again, alone, calling, keyed, lateError, mostParts, type Turn, triedOften, withPartial } from './turn.ts'
import { prepared, waited } from './wait.ts'
import { type Walker, walk } from './walk.ts'

// The items of a plan's `each`, and the loop key of each.

/** The loop key of each item: its `id`, else its index in the list. A repeated key gets a number, so that both items are done. */
const itemKeys = (items: readonly Json[]): readonly string[] => {
  const wanted = items.map((item, i) => {
    const id = isJsonRecord(item) ? item['id'] : undefined
    const key = typeof id === 'string' || typeof id === 'number' ? String(id) : ''
    return isLoopKey(key) && !key.startsWith('#') ? key : String(i)
  })
  const taken = new Set<string>()
  const ofItself = new Set(wanted)
  return wanted.map((key) => {
    let free = key
    for (let n = 2; taken.has(free) || (free !== key && ofItself.has(free)); n++) free = `${key} (${n})`
    taken.add(free)
    return free
  })
}

interface PlanContext {
  readonly input: Json
  readonly step: Pick<Step, 'run' | 'invoke' | 'human' | 'sleep' | 'waitForEvent'> & Replayed
}

/** The answer of people, and what it means for the step. */
interface Reply extends Answered {
  readonly by: string | null
  readonly feedback: string | null
  readonly output: Json
  /** The task that the revision updates; null: a new task is opened. */
  readonly revises: AskReply | null
  /** The step that makes the requested changes; null: there is none. */
  readonly returnsTo: string | null
}

/** A drafted plan also carries what was shown before it was ordered. */
type PlayedPlan = PlanSpec & Partial<Pick<ShownPlan, 'shown' | 'hash'>>

const MAX_ITEMS = 1_000
const NOT_REACHED: Ended = { ...skippedFor('it was not reached'), output: null }

const answerOf = ({ text, rule }: Asked, roots: Roots, what: string): Json => {
  const answer = rule(roots)
  if (answer.kind === 'value') return answer.value
  throw new TrihandError('EXPR_FAILED', `${what} ${text}: ${answer.detail}`)
}

const isPlain = ({ when, before, each }: PlanStep): boolean => when === null && before === null && each === null

/** True if the recorded answer is the output as it is, whatever the step asks of the run. */
const isBare = ({ check, onPartial }: PlanStep): boolean => check === undefined && onPartial === undefined

const refused = (what: string, { decidedBy, feedback, status }: AskReply): TrihandError =>
  new TrihandError('STEP_REFUSED', `${decidedBy ?? 'no person'} did not approve ${what}: ${feedback ?? status}`)

class Play implements Walker {
  private readonly plan: PlayedPlan
  private readonly context: PlanContext
  private readonly done = new Map<string, Ended>()
  private readonly seen: Seen

  constructor(plan: PlayedPlan, given: Roots, context: PlanContext) {
    this.plan = plan
    this.context = context
    this.seen = new Seen(context.input, given, this.done)
  }

  async all(): Promise<unknown> {
    await this.agreed()
    await walk(this.plan.steps, this)
    const steps = Object.fromEntries(
      this.plan.steps.map(({ id }) => {
        return [id, shownEnd(this.done.get(id) ?? NOT_REACHED)] as const
      }),
    )
    const isWhole = [...this.done.values()].every(({ because }) => because === null)
    return isWhole ? { steps } : partial({ steps })
  }

  /** plan-run-2: people see the steps as they will be done. A version with other steps asks again. */
  private async agreed(): Promise<void> {
    const { approve, hash = '' } = this.plan
    if (approve === 'auto') return
    const seen = await this.context.step.run('plan', () => hash, { key: 'shown' })
    await this.agreement('approval')
    if (seen !== hash) await this.agreement(`approval ${hash}`, 'The plan was changed after it was first shown.')
  }

  private async agreement(key: string, instructions?: string): Promise<void> {
    const { goal, hash = '', shown = [] } = this.plan
    const title = goal === '' ? 'A plan is to be done' : goal
    const content = { hash, steps: shown.map(stepMembers) }
    const sections = [{ id: 'plan', title: 'Steps', type: 'summary' as const, content }]
    const about = { context: this.context.input, ...(instructions === undefined ? {} : { instructions }) }
    const task = { taskType: 'approval' as const, title, ...about, bundle: { sections } }
    const reply = await this.context.step.human('plan', task, { key })
    if (reply.status !== 'approved') throw refused('the plan', reply)
  }

  /** The end of a plain call that this entry need not wait for. */
  endedBefore(step: PlanStep): Ended | null {
    if (!isPlain(step) || !isBare(step) || step.work.kind !== 'call' || step.work.hand !== 'workflow') return null
    if (planEnd.fateOf(step, this.done) !== null) return null
    const found = this.context.step.ended?.(step.id) ?? null
    return found === null ? null : { ...SUCCESS, output: found.value }
  }

  perform(step: PlanStep): Promise<Ended> {
    const fate = planEnd.fateOf(step, this.done)
    return fate === null ? this.begin(step) : this.skipped(step, fate)
  }

  ended({ id }: PlanStep, end: Ended): void {
    this.done.set(id, end)
    this.seen.add(id)
  }

  /** Recorded under the id of the step, which is otherwise unused: the timeline shows why the step was skipped. */
  private async skipped({ id }: PlanStep, end: StepEnd): Promise<Ended> {
    await this.context.step.run(id, () => skipRecord(end))
    return { ...end, output: null }
  }

  private begin(step: PlanStep): Promise<Ended> {
    return isPlain(step) ? this.settled({ step, roots: () => this.seen.by(step), key: null }) : this.beginAfter(step)
  }

  private async beginAfter(step: PlanStep, again?: Again): Promise<Ended> {
    const roots = this.seen.by(step)
    if (step.when !== null && answerOf(step.when, roots, `when of ${step.id}`) !== true)
      return this.skipped(step, skippedFor(`its condition is not met: ${step.when.text}`))
    try {
      if (step.before !== null && again === undefined) await prepared(this.context.step, step, step.before)
    } catch (error) {
      if (error instanceof Refusal) return error.ended
      throw error
    }
    const revised = again === undefined ? {} : { again }
    if (step.each === null) return this.settled({ step, roots: () => roots, key: again?.key ?? null, ...revised })
    const items = answerOf(step.each, roots, `each of ${step.id}`)
    if (!Array.isArray(items) || items.length > MAX_ITEMS)
      throw new TrihandError('EXPR_FAILED', `each of ${step.id} must give a list of at most ${MAX_ITEMS} items`)
    const keys = itemKeys(items)
    const ends = await Promise.all(
      items.map((item: Json, i) => {
        const { key } = keyed(again?.key ?? null, keys[i] ?? String(i))
        return this.settled({ step, roots: () => beside(roots, { item, [step.as]: item }), key, ...revised })
      }),
    )
    const no = ends.find(({ because }) => because !== null) ?? SUCCESS
    return { ...no, output: ends.map(({ output }) => output) }
  }

  /** Performs the step until it ends, even if it fails; after a failure again, as often as a person decides so. */
  private async settled(turn: Turn): Promise<Ended> {
    const { step, key } = turn
    let last = key
    for (let again = 0; ; again++)
      try {
        const from = again === 0 ? turn : { ...turn, key: keyed(key, `again ${again}`).key, retries: { key: last } }
        return await triedOften(from, (one) => this.turned(one), {
          sleep: (ms, part) => this.context.step.sleep(step.id, ms, keyed(from.key, part)),
          begins: (begun) => {
            last = begun
          },
        })
      } catch (error) {
        if (error instanceof Refusal) return error.ended
        if (!isStepFailure(error) && !(error instanceof TrihandError)) throw error
        if (asksPeople(step) && WITHDRAWN.includes(error.code)) return leftOut(step, error.message)
        if (step.onFailure === 'fail') throw error
        if (step.onFailure === 'skip') return leftOut(step, error.message)
        const word = await this.context.step.human(
          step.id,
          {
            taskType: 'decision',
            title: `${step.name} has failed`,
            instructions: whatHappened(error),
            actions: [{ name: 'retry' }, { name: 'skip' }, 'reject'],
          },
          keyed(key, `failed ${again}`),
        )
        if (word.decision === 'skip') return leftOut(step, error.message)
        if (word.decision !== 'retry') throw error
      }
  }

  private async turned(turn: Turn): Promise<Ended> {
    const ended = await this.performed(turn)
    if (ended.because === null) await turn.step.check?.(ended.output)
    return ended
  }

  private async performed(turn: Turn): Promise<Ended> {
    const { step } = turn
    const { work, id } = step
    if (asksPeople(step)) return this.asked(turn)
    switch (work.kind) {
      case 'call': {
        const output = await this.called(turn, work.handler)
        return { ...SUCCESS, output: await reviewedAnswer(this.context, turn, output) }
      }
      case 'wait':
        return { ...SUCCESS, output: await waited(this.context.step, step, work, turn.key) }
      case 'ask':
      case 'nobody':
        throw new TrihandError('PLAN_UNASSIGNED', `the step ${id}, ${step.name}, is not assigned`)
    }
  }

  /** Calls the handler until the answer is complete, or good enough. */
  private async called(turn: Turn, handler: string): Promise<Json> {
    const { step, key, retries } = turn
    const { id, onPartial, onParentEnd } = step
    for (let more = 0, sofar: Json | undefined; ; more++) {
      const at: InvokeStepOptions & InputWhenBegun & Retrying = {
        ...(more === 0 ? alone(key) : keyed(key, `more ${more}`)),
        ...calling(step),
        ...(more > 0 || retries === undefined ? {} : { retries }),
        onParentEnd,
        makeInput: () => withPartial(this.inputOf(turn), sofar),
      }
      const answer = await this.context.step.invoke(id, handler, null, at).catch((error: unknown) => {
        throw lateError(step, error)
      })
      const part = onPartial === undefined ? null : partialIn(answer)
      if (part === null) return answer
      if (onPartial === 'fail')
        throw new TrihandError(
          'STEP_PARTIAL',
          `${step.name} ended with a partial result, which counts as a failure here`,
        )
      if (more + 1 >= mostParts(step)) return part.output
      sofar = part.output
    }
  }

  // -- people -----------------------------------------------------------------------------------------------------------

  /** Asks people until they say yes or no: a request for changes keeps the step open until the revision is decided. */
  private async asked(turn: Turn): Promise<Ended> {
    const { step, key } = turn
    let reply = await this.question(turn, null)
    for (let round = 1; reply.status === 'revision_requested'; round++) {
      const { feedback } = reply
      const part = `revision ${round}`
      const stopped = await this.revised(step, reply, {
        key: key === null ? `${step.id} ${part}` : `${step.id} ${key} ${part}`,
        ...{ feedback, revision: round + 1 },
      })
      if (stopped !== null) return stopped
      const again = { key: keyed(key, part).key, feedback, revision: round + 1 }
      const roots = beside(this.seen.by(step), itemIn(turn))
      reply = await this.question({ step, roots: () => roots, key: again.key, again }, reply.revises)
    }
    const { name, id } = step
    const end = planEnd.isYes(reply) ? SUCCESS : refusedAt(id, refusalText({ name, ...reply }))
    return { ...end, output: reply.output }
  }

  /** Asks once: as a task of this run, or through a declared human. */
  private async question(turn: Turn, revises: Reply['revises']): Promise<Reply> {
    const { step, roots, key } = turn
    const { work, id } = step
    if (work.kind !== 'ask') {
      const handler = work.kind === 'call' ? work.handler : id
      const at: InvokeStepOptions & InputWhenBegun & Retrying = {
        ...alone(key),
        ...calling(step),
        makeInput: () => this.inputOf(turn),
      }
      const output = await this.context.step.invoke(id, handler, null, at)
      const { decided_by: by, feedback } = isJsonRecord(output) ? output : {}
      const said = { by: typeof by === 'string' ? by : null, feedback: typeof feedback === 'string' ? feedback : null }
      return { ...answeredIn(output), ...said, output, revises: null, returnsTo: null }
    }
    const task = work.task(roots()) as unknown as TaskOptions
    const reply = await this.context.step.human(id, task, { ...alone(key), ...(revises === null ? {} : { revises }) })
    const action = task.actions?.find((one) => typeof one !== 'string' && one.name === reply.decision)
    const returnsTo = typeof action === 'object' ? (action.returnsTo ?? null) : null
    return { ...reply, by: reply.decidedBy, output: taskOutput(reply), revises: reply, returnsTo }
  }

  /** Repeats the step that makes the changes and the steps between it and the question. Null: the question can be asked again. */
  private async revised(step: PlanStep, { returnsTo }: Reply, again: Again): Promise<Ended | null> {
    if (returnsTo === null) return null
    for (const one of againFor(this.plan.steps, returnsTo, step.id)) {
      const ended = await this.beginAfter(one, again)
      this.ended(one, ended)
    }
    const fate = planEnd.fateOf(step, this.done)
    return fate === null ? null : { ...fate, output: null }
  }

  // -- what a step sees -------------------------------------------------------------------------------------------------

  private inputOf({ step, roots: seen, again }: Turn): Json {
    const roots = seen()
    const asked = again === undefined ? {} : { feedback: again.feedback, revision: again.revision }
    const given = step.input?.(roots) ?? null
    const context = step.context === undefined ? {} : { context: step.context(roots) }
    if (step.input !== null) return isJsonRecord(given) ? { ...given, ...asked, ...context } : given
    const { input } = this.context
    const outputs = step.requires.map((id) => [id, this.done.get(id)?.output ?? null] as const)
    const own = isJsonRecord(input) ? input : { input }
    return { ...own, ...Object.fromEntries(outputs), ...itemOf(step, roots), ...asked, ...context }
  }
}

const itemIn = ({ step, roots }: Turn): Roots => {
  if (step.each === null) return {}
  const { item = null } = roots()
  return { item, [step.as]: item }
}

/** A step as it appears in the output of the run. */
const shownEnd = ({ status, because, reason, output }: Ended): Json => ({
  ...{ status, output },
  ...(because === null ? {} : { because }),
  ...(reason === null ? {} : { reason }),
})

const itemOf = ({ each, as }: PlanStep, roots: Roots): { readonly [name: string]: Json } =>
  each === null ? {} : { [as]: roots['item'] ?? null }

/** The code of a function that is a plan. */
export const planned =
  (plan: PlayedPlan, roots: Roots) =>
  (context: PlanContext): Promise<unknown> =>
    new Play(plan, roots, context).all()
