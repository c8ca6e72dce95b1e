/**
 * A plan at work: every step by the hand that it is given to, as soon as those before it have ended, side by side where it can.
 *
 * Owns what a step sees of the others, and what becomes of one that fails. It is an ordinary function over steps: each is recorded under
 * its own id, so a plan goes on where it was. Which step may begin is model/plan.ts.
 */
import { TrihandError } from '../../model/errors.ts'
import { isJsonRecord, type Json } from '../../model/json.ts'
import {
  type Asked,
  fateOf,
  linesOf,
  type PlanSpec,
  type PlanStep,
  type PlanWait,
  type StepEnd,
} from '../../model/plan.ts'
import { confidenceOf, escalationOf } from '../../model/policies/escalation.ts'
import type { TaskOptions } from '../../model/task-source.ts'
import type { Roots } from '../../model/workflow-spec.ts'
import type { AskReply } from '../../ports/step-gate.ts'
import { partial } from '../partial.ts'
import { taskOutput } from '../task-output.ts'
import type { Step, StepOptions, Telling } from './step-api.ts'
import { isStepFailure } from './step-failure.ts'

interface PlanContext {
  readonly input: Json
  readonly step: Pick<Step, 'invoke' | 'human' | 'sleep' | 'waitForEvent'>
}

interface Ended {
  readonly end: StepEnd
  readonly output: Json
}

/** One performance of a step: whose item it is about, if it is about one. */
interface Turn {
  readonly step: PlanStep
  readonly roots: Roots
  /** Null: it has no loop key. */
  readonly key: string | null
}

const MAX_ITEMS = 1_000
const LEFT_OUT: Ended = { end: 'skipped', output: null }
const PEOPLE = /^(user|group):/

const answerOf = ({ text, rule }: Asked, roots: Roots, what: string): Json => {
  const answer = rule(roots)
  if (answer.kind === 'value') return answer.value
  throw new TrihandError('EXPR_FAILED', `${what} ${text}: ${answer.detail}`)
}

const keyed = (key: string | null, part: string): { readonly key: string } => ({
  key: key === null ? part : `${key}.${part}`,
})
const alone = (key: string | null): { readonly key?: string } => (key === null ? {} : { key })

const refused = (what: string, { decidedBy, feedback, status }: AskReply): TrihandError =>
  new TrihandError('STEP_REFUSED', `${decidedBy ?? 'nobody'} did not agree to ${what}: ${feedback ?? status}`)

class Play {
  private readonly plan: PlanSpec
  private readonly given: Roots
  private readonly context: PlanContext
  private readonly ends = new Map<string, Promise<Ended>>()
  private readonly done = new Map<string, Ended>()

  constructor(plan: PlanSpec, given: Roots, context: PlanContext) {
    this.plan = plan
    this.given = given
    this.context = context
  }

  async all(): Promise<unknown> {
    await this.agreed()
    await Promise.all(this.plan.steps.map((step) => this.ended(step)))
    const steps = Object.fromEntries(
      this.plan.steps.map(({ id }) => {
        const { end, output } = this.done.get(id) ?? LEFT_OUT
        return [id, { status: end, output }] as const
      }),
    )
    const isWhole = [...this.done.values()].every(({ end }) => end !== 'rejected' && end !== 'withheld')
    return isWhole ? { steps } : partial({ steps })
  }

  /** People see the steps as they will be done, and the decision is bound to that. */
  private async agreed(): Promise<void> {
    const { goal, approve, steps } = this.plan
    if (approve === 'auto') return
    const content = linesOf(steps)
    const title = goal === '' ? 'A plan is to be done' : goal
    const sections = [{ id: 'plan', title: 'Steps', type: 'summary' as const, content }]
    const reply = await this.context.step.human(
      'plan',
      { taskType: 'approval', title, context: this.context.input, bundle: { sections } },
      { key: 'approval' },
    )
    if (reply.status !== 'approved') throw refused('the plan', reply)
  }

  /** plan-1: asked for by those behind it, performed once. */
  private ended(step: PlanStep): Promise<Ended> {
    const known = this.ends.get(step.id)
    if (known !== undefined) return known
    const end = this.follow(step)
    this.ends.set(step.id, end)
    return end
  }

  private async follow(step: PlanStep): Promise<Ended> {
    const before = this.plan.steps.filter(({ id }) => step.requires.includes(id))
    await Promise.all(before.map((one) => this.ended(one)))
    const fate = fateOf(step, new Map([...this.done].map(([id, { end }]) => [id, end])))
    const ended = fate === null ? await this.begin(step) : { end: fate, output: null }
    this.done.set(step.id, ended)
    return ended
  }

  private async begin(step: PlanStep): Promise<Ended> {
    const roots = this.rootsFor(step)
    if (step.when !== null && answerOf(step.when, roots, `when of ${step.id}`) !== true) return LEFT_OUT
    if (step.before !== null) await this.prepared(step, step.before)
    if (step.each === null) return this.settled({ step, roots, key: null })
    const items = answerOf(step.each, roots, `each of ${step.id}`)
    if (!Array.isArray(items) || items.length > MAX_ITEMS)
      throw new TrihandError('EXPR_FAILED', `each of ${step.id} gives no list of at most ${MAX_ITEMS} items`)
    const ends = await Promise.all(
      items.map((item: Json, i) => {
        const id = isJsonRecord(item) ? item['id'] : undefined
        const key = typeof id === 'string' || typeof id === 'number' ? String(id) : String(i)
        return this.settled({ step, roots: { ...roots, item, [step.as]: item }, key })
      }),
    )
    return { end: 'success', output: ends.map(({ output }) => output) }
  }

  private async prepared({ id, name }: PlanStep, before: PlanWait | 'manual'): Promise<void> {
    const { step } = this.context
    if (before === 'manual') {
      const reply = await step.human(id, { taskType: 'approval', title: `Begin: ${name}` }, { key: 'begin' })
      if (reply.status !== 'approved') throw refused(name, reply)
    } else if ('duration' in before) await step.sleep(id, before.duration, { key: 'delay' })
    else await step.waitForEvent(id, { event: before.event, key: 'trigger' })
  }

  /** Its end, also if it fails: as often as a person wants it done again. */
  private async settled(turn: Turn): Promise<Ended> {
    const { step, key } = turn
    for (let again = 0; ; again++)
      try {
        return await this.perform(again === 0 ? turn : { ...turn, key: keyed(key, `again ${again}`).key })
      } catch (error) {
        if (!isStepFailure(error) && !(error instanceof TrihandError)) throw error
        if (step.onFailure === 'fail') throw error
        if (step.onFailure === 'skip') return LEFT_OUT
        const word = await this.context.step.human(
          step.id,
          {
            taskType: 'decision',
            title: `${step.name} has failed`,
            instructions: error.message,
            actions: [{ name: 'retry' }, { name: 'skip' }, 'reject'],
          },
          keyed(key, `failed ${again}`),
        )
        if (word.decision === 'skip') return LEFT_OUT
        if (word.decision !== 'retry') throw error
      }
  }

  private async perform(turn: Turn): Promise<Ended> {
    const { step, roots, key } = turn
    const { work, id } = step
    switch (work.kind) {
      case 'call': {
        const output = await this.context.step.invoke(id, work.handler, this.inputOf(turn), alone(key))
        return { end: 'success', output: work.isAgent ? await this.judged(turn, output) : output }
      }
      case 'ask': {
        const reply = await this.context.step.human(id, work.task(roots) as unknown as TaskOptions, alone(key))
        const isRefused = work.isApproval && reply.status !== 'approved'
        return { end: isRefused ? 'rejected' : 'success', output: taskOutput(reply) }
      }
      case 'wait':
        return { end: 'success', output: await this.waited(turn, work) }
      case 'nobody':
        throw new TrihandError('PLAN_UNASSIGNED', `nobody is said to do ${id}, ${step.name}`)
    }
  }

  private async waited(
    { step: { id, name }, key }: Turn,
    work: Extract<PlanStep['work'], { readonly kind: 'wait' }>,
  ): Promise<Json> {
    const { step } = this.context
    if ('duration' in work.for) {
      await step.sleep(id, work.for.duration, alone(key))
      return null
    }
    const { event, timeout } = work.for
    const found = await step.waitForEvent(id, { event, ...(timeout === null ? {} : { timeout }), ...alone(key) })
    if (found.event !== null) return { timed_out: false, event: found.event.type, data: found.event.data }
    if (work.onTimeout === 'fail') throw new TrihandError('STEP_TIMEOUT', `${event} did not come for ${name}`)
    if (work.onTimeout === 'continue') return { timed_out: true }
    const asked = { taskType: 'decision', title: `${event} did not come for ${name}`, actions: ['approve', 'reject'] }
    const reply = await step.human(id, asked as TaskOptions, keyed(key, 'late'))
    if (reply.status !== 'approved') throw refused(name, reply)
    return { timed_out: true, ...(taskOutput(reply) as { readonly [name: string]: Json }) }
  }

  /** An agent's answer, or that of whoever a rule gives it to: what cannot be judged goes to a person. */
  private async judged({ step, key }: Turn, output: Json): Promise<Json> {
    const { id, name, escalation } = step
    const confidence = confidenceOf(isJsonRecord(output) ? output['confidence'] : undefined, 1)
    const agent = { output, status: 'success', ...(confidence === null ? {} : { confidence }) }
    const answers = escalation.map(({ rule }) => rule({ agent, output, payload: this.context.input }))
    const found = escalationOf(escalation, answers, confidence)
    if (found === null) return output
    const told = { rule: escalation[found.rule]?.condition ?? null, reason: found.reason, to: found.to }
    const at: StepOptions & Telling = { ...keyed(key, 'escalated'), tells: { type: 'agent.escalated', data: told } }
    const question = { step: id, reason: found.reason, output }
    if (found.to !== 'human' && !PEOPLE.test(found.to)) return this.context.step.invoke(id, found.to, question, at)
    const reply = await this.context.step.human(
      id,
      {
        taskType: 'review',
        title: `${name}: not sure`,
        instructions: found.reason,
        ...(found.to === 'human' ? {} : { assign: found.to }),
        bundle: { sections: [{ id: 'output', type: 'editable', title: 'Answer', content: output }] },
        actions: ['approve', 'edit', 'reject', 'reassign'],
      },
      at,
    )
    if (reply.status !== 'approved') throw refused(name, reply)
    return reply.modifications?.['output'] ?? output
  }

  // -- what a step sees -------------------------------------------------------------------------------------------------

  private inputOf({ step, roots }: Turn): Json {
    if (step.input !== null) return step.input(roots)
    const { input } = this.context
    const outputs = step.requires.map((id) => [id, this.done.get(id)?.output ?? null] as const)
    return { ...(isJsonRecord(input) ? input : { input }), ...Object.fromEntries(outputs), ...itemOf(step, roots) }
  }

  /** Later ones win: fields of the input, outputs by the ids of their steps, and the roots that all expressions have. */
  private rootsFor(step: PlanStep): Roots {
    const { input } = this.context
    const outputs = [...this.done].map(([id, { output }]) => [id, output] as const)
    const steps = Object.fromEntries(
      [...this.done].map(([id, { end, output }]) => [id, { status: end, output }] as const),
    )
    const fields = isJsonRecord(input) ? input : {}
    const own = { id: step.id, name: step.name, ...fields }
    return {
      ...fields,
      ...Object.fromEntries(outputs),
      ...this.given,
      ...{ payload: input, inputs: input, steps, step: own, subtask: own },
    }
  }
}

const itemOf = ({ each, as }: PlanStep, roots: Roots): { readonly [name: string]: Json } =>
  each === null ? {} : { [as]: roots['item'] ?? null }

/** The code of a function that is a plan. */
export const planned =
  (plan: PlanSpec, roots: Roots) =>
  (context: PlanContext): Promise<unknown> =>
    new Play(plan, roots, context).all()
