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
import type { InputWhenBegun, Step, StepOptions, Telling } from './step-api.ts'
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
  /** Made when they are asked for: a step that has ended asks for none. */
  readonly roots: () => Roots
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

/** Names beside those that are there already: made in the same time however many there are. */
const beside = (roots: Roots, names: Roots): Roots => Object.assign(Object.create(roots) as object, names) as Roots

/**
 * What expressions see: fields of the input, outputs by the ids of their steps, and the roots that all expressions have; later ones win.
 *
 * Grows with each step that ends, and is never copied: a chain is entered once for each of its steps, so that one copy per step would
 * cost the third power of its length. A step names the steps that it reads, and begins after them: what else has ended changes nothing.
 */
class Seen {
  private readonly fields: { readonly [name: string]: Json }
  private readonly outputs: { [id: string]: Json }
  private readonly steps: { [id: string]: Json } = {}
  private readonly roots: Roots

  constructor(input: Json, given: Roots) {
    this.fields = isJsonRecord(input) ? input : {}
    this.outputs = Object.assign(Object.create(null) as object, this.fields)
    this.roots = beside(this.outputs, { ...given, payload: input, inputs: input, steps: this.steps })
  }

  add(id: string, { end, output }: Ended): void {
    this.outputs[id] = output
    this.steps[id] = { status: end, output }
  }

  by({ id, name }: PlanStep): Roots {
    const step = { id, name, ...this.fields }
    return beside(this.roots, { step, subtask: step })
  }
}

class Play {
  private readonly plan: PlanSpec
  private readonly context: PlanContext
  private readonly done = new Map<string, Ended>()
  private readonly ends = new Map<string, StepEnd>()
  private readonly seen: Seen

  constructor(plan: PlanSpec, given: Roots, context: PlanContext) {
    this.plan = plan
    this.context = context
    this.seen = new Seen(context.input, given)
  }

  async all(): Promise<unknown> {
    await this.agreed()
    await new Promise<void>((resolve, reject) => this.follow(resolve, reject))
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

  /**
   * plan-1: each step counts those before it that have not ended, and begins with the last of them. Promises between the steps would cost
   * as much as the steps themselves when a long plan is entered again.
   */
  private follow(resolve: () => void, reject: (error: unknown) => void): void {
    const left = new Map(this.plan.steps.map(({ id, requires }) => [id, requires.length]))
    const behind = new Map<string, PlanStep[]>(this.plan.steps.map(({ id }) => [id, []]))
    for (const step of this.plan.steps) for (const id of step.requires) behind.get(id)?.push(step)
    const finish = (step: PlanStep, ended: Ended): void => {
      this.done.set(step.id, ended)
      this.ends.set(step.id, ended.end)
      this.seen.add(step.id, ended)
      if (this.done.size === this.plan.steps.length) return resolve()
      for (const next of behind.get(step.id) ?? []) {
        const count = (left.get(next.id) ?? 1) - 1
        left.set(next.id, count)
        if (count === 0) go(next)
      }
    }
    const go = (step: PlanStep): void => {
      const fate = fateOf(step, this.ends)
      if (fate === null) this.begin(step).then((ended) => finish(step, ended), reject)
      else finish(step, { end: fate, output: null })
    }
    if (this.plan.steps.length === 0) return resolve()
    for (const step of this.plan.steps.filter(({ requires }) => requires.length === 0)) go(step)
  }

  private begin(step: PlanStep): Promise<Ended> {
    const { when, before, each } = step
    const isPlain = when === null && before === null && each === null
    return isPlain ? this.settled({ step, roots: () => this.seen.by(step), key: null }) : this.beginAfter(step)
  }

  private async beginAfter(step: PlanStep): Promise<Ended> {
    const roots = this.seen.by(step)
    if (step.when !== null && answerOf(step.when, roots, `when of ${step.id}`) !== true) return LEFT_OUT
    if (step.before !== null) await this.prepared(step, step.before)
    if (step.each === null) return this.settled({ step, roots: () => roots, key: null })
    const items = answerOf(step.each, roots, `each of ${step.id}`)
    if (!Array.isArray(items) || items.length > MAX_ITEMS)
      throw new TrihandError('EXPR_FAILED', `each of ${step.id} gives no list of at most ${MAX_ITEMS} items`)
    const ends = await Promise.all(
      items.map((item: Json, i) => {
        const id = isJsonRecord(item) ? item['id'] : undefined
        const key = typeof id === 'string' || typeof id === 'number' ? String(id) : String(i)
        return this.settled({ step, roots: () => beside(roots, { item, [step.as]: item }), key })
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
    const { step, key } = turn
    const { work, id } = step
    switch (work.kind) {
      case 'call': {
        const at: StepOptions & InputWhenBegun = { ...alone(key), makeInput: () => this.inputOf(turn) }
        const output = await this.context.step.invoke(id, work.handler, null, at)
        return { end: 'success', output: work.isAgent ? await this.judged(turn, output) : output }
      }
      case 'ask': {
        const reply = await this.context.step.human(id, work.task(turn.roots()) as unknown as TaskOptions, alone(key))
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

  private inputOf({ step, roots: seen }: Turn): Json {
    const roots = seen()
    if (step.input !== null) return step.input(roots)
    const { input } = this.context
    const outputs = step.requires.map((id) => [id, this.done.get(id)?.output ?? null] as const)
    return { ...(isJsonRecord(input) ? input : { input }), ...Object.fromEntries(outputs), ...itemOf(step, roots) }
  }
}

const itemOf = ({ each, as }: PlanStep, roots: Roots): { readonly [name: string]: Json } =>
  each === null ? {} : { [as]: roots['item'] ?? null }

/** The code of a function that is a plan. */
export const planned =
  (plan: PlanSpec, roots: Roots) =>
  (context: PlanContext): Promise<unknown> =>
    new Play(plan, roots, context).all()
