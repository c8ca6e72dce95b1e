/**
 * Brings plans from what an author writes to the normal form: the handler of each step, the steps before it, and its input.
 *
 * Owns the spelling, which handler a type or the text of a line means, and every refusal at definition time. A step without a handler
 * is kept, and refused when it should begin.
 */
import { invalidAt, oneOf, withPath } from '#manifest/expressions/ranges.ts'
import { compileRule, rootsAmong } from '#manifest/expressions/rules.ts'
import { compileValue } from '#manifest/expressions/values.ts'
import { durationMs } from '#manifest/time/duration.ts'
import { namesIn, ROOTS } from '#manifest/yaml/parse/expression.ts'
import { isRecord } from '#manifest/yaml/record.ts'
import { isEventType } from '#model/event/event.ts'
import { TrihandError } from '#model/kernel/errors.ts'
import { type Json, toJson } from '#model/kernel/json.ts'
import type { Modality } from '#model/kernel/modality.ts'
import { againFor, circleIn, type PlanSpec, type PlanStep, type PlanWait, type PlanWork } from '#model/plan/plan.ts'
import { takesOver } from '#model/plan/shown.ts'
import type { PlanSource, PlanStepSource } from '#model/plan/source.ts'
import { readPlanText, slugOf, type WrittenStep } from '#model/plan/text.ts'
import type { TaskOptions } from '#model/task/source.ts'
import { stepTerms, timeoutOfAsk, timeoutOfWait } from './step-terms.ts'

export type ModalityByHandler = ReadonlyMap<string, Modality>
/** The roots that every rule and template of a plan may use. */
type Roots = readonly string[]

const HUMAN_TYPES = ['approval', 'review', 'input', 'decision'] as const
const FAILURES = ['fail', 'skip', 'human', 'replan'] as const
const PARENT_ENDS = ['cancel', 'detach'] as const
const REJECTIONS = ['skip', 'continue'] as const
const GATES = ['none'] as const
const TIMEOUTS = ['continue', 'fail', 'escalate'] as const
const WORD = /^[A-Za-z_]\w*$/
const MAX_STEPS = 1_000

const isHumanType = (type: string | undefined): type is (typeof HUMAN_TYPES)[number] =>
  HUMAN_TYPES.some((one) => one === type)

/** The text of a line is the name of its handler; text behind a colon is the input. */
const ofLine = (step: WrittenStep, hands: ModalityByHandler): PlanStepSource => {
  const slug = slugOf(step)
  const handler = [...hands.keys()].find((name) => name.replaceAll('_', '-') === slug)
  const { id, name, requires, text } = step
  return {
    ...{ id, name, requires },
    ...(handler === undefined ? {} : { assignedTo: handler }),
    ...(text === null ? {} : { inputs: { text } }),
  }
}

export const stepsOf = (
  { text, steps = [] }: PlanSource,
  path: string,
  hands: ModalityByHandler,
): readonly PlanStepSource[] => {
  if (text === undefined) return steps
  if (steps.length > 0) throw invalidAt(`${path}.text`, 'a plan needs text or steps, not both')
  const read = readPlanText(text)
  if (read.kind === 'unread')
    throw invalidAt(`${path}.text`, `line ${read.line}, "${read.text}": expected a step such as "a. Get all contacts"`)
  return read.steps.map((step) => ofLine(step, hands))
}

/** A modality, a handler, or the handler that the type usually means. */
const handOf = (
  step: PlanStepSource,
  hands: ModalityByHandler,
): { modality: Modality | null; handler: string | null } => {
  const { assignedTo, defaultModality, type, agentConfig, humanConfig, workflowConfig } = step
  const meant = assignedTo ?? defaultModality
  const handler = agentConfig?.agentId ?? workflowConfig?.functionName ?? null
  if (meant === 'agent' || meant === 'human' || meant === 'workflow') return { modality: meant, handler }
  if (meant !== undefined) return { modality: hands.get(meant) ?? null, handler: meant }
  if (agentConfig !== undefined || type === 'generation') return { modality: 'agent', handler }
  if (humanConfig !== undefined || isHumanType(type)) return { modality: 'human', handler: null }
  return { modality: type === undefined && handler === null ? null : 'workflow', handler }
}

const waitAt = (path: string, source: NonNullable<PlanStepSource['waitConfig']>): PlanWait => {
  const { duration, untilEvent, timeout } = source
  if ((duration === undefined) === (untilEvent === undefined))
    throw invalidAt(path, 'expected one of duration and untilEvent')
  if (duration !== undefined) {
    withPath(`${path}.duration`, () => durationMs(duration))
    return { duration }
  }
  if (untilEvent === undefined || !isEventType(untilEvent))
    throw invalidAt(path, `"${untilEvent}" is not an event type`)
  if (timeout !== undefined) withPath(`${path}.timeout`, () => durationMs(timeout))
  return { event: untilEvent, timeout: timeout ?? null }
}

/** Adds the approval and the checklist of a step to the sections that people are shown. */
const reviewed = ({ humanConfig = {}, approvalConfig, reviewConfig }: PlanStepSource): Pick<TaskOptions, 'bundle'> => {
  const parts = [
    { id: 'approval', title: 'Approval', content: approvalConfig },
    { id: 'checklist', title: 'Checklist', content: reviewConfig?.checklist },
  ].flatMap(({ content, ...part }) =>
    content === undefined ? [] : [{ ...part, type: 'summary' as const, content: toJson(content) }],
  )
  return parts.length === 0 ? {} : { bundle: { sections: [...(humanConfig.bundle?.sections ?? []), ...parts] } }
}

/** What a person is asked, in the form of `step.human` once the templates are filled in. */
const askOf = (path: string, step: PlanStepSource, roots: Roots): PlanWork => {
  const { allowedActions, approvalBundleId, ...config } = step.humanConfig ?? {}
  const taskType = config.taskType ?? (isHumanType(step.type) ? step.type : 'approval')
  const { assign } = config
  const ruled = typeof assign === 'object' && !Array.isArray(assign) && 'rule' in assign ? assign : null
  const { rule, ...others } = ruled ?? {}
  const { inputs } = step
  const context =
    isRecord(config.context) || config.context === undefined ? { ...inputs, ...config.context } : config.context
  const task = {
    ...config,
    ...(inputs === undefined ? {} : { context }),
    ...timeoutOfAsk(path, step),
    ...reviewed(step),
    ...{ taskType, title: config.title ?? step.name ?? step.id },
    ...(allowedActions === undefined || config.actions !== undefined ? {} : { actions: allowedActions }),
    ...(approvalBundleId === undefined || config.context !== undefined || inputs !== undefined
      ? {}
      : { context: { approval_bundle_id: approvalBundleId } }),
    ...(rule === undefined ? {} : { assign: { ...others, user: { expr: rule } } }),
  }
  return { kind: 'ask', task: withPath(path, () => compileValue(toJson(task), roots)) }
}

const workOf = (path: string, step: PlanStepSource, hands: ModalityByHandler, roots: Roots): PlanWork => {
  if (step.type === 'wait' || step.waitConfig !== undefined) {
    const onTimeout = oneOf(`${path}.waitConfig.timeoutAction`, step.waitConfig?.timeoutAction ?? 'continue', TIMEOUTS)
    const waits = waitAt(`${path}.waitConfig`, step.waitConfig ?? {})
    return { kind: 'wait', for: timeoutOfWait(path, waits, step.timeout), onTimeout }
  }
  const { modality, handler } = handOf(step, hands)
  if (modality === 'human' && handler === null) return askOf(path, step, roots)
  const called = handler ?? (modality === null ? null : (step.type ?? null))
  const hand = called === null ? undefined : hands.get(called)
  return called === null || hand === undefined ? { kind: 'nobody' } : { kind: 'call', handler: called, hand }
}

const BEFORE = /^(after|delay|event|manual)(?::(.+))?$/

const beforeOf = (path: string, trigger: string | undefined): PlanStep['before'] => {
  if (trigger === undefined) return null
  const [, kind, rest] = BEFORE.exec(trigger.trim()) ?? []
  if (kind === 'manual') return 'manual'
  if (kind === 'after') return null
  if (kind === 'delay' && rest !== undefined) return waitAt(path, { duration: rest.trim() })
  if (kind === 'event' && rest !== undefined) return waitAt(path, { untilEvent: rest.trim() })
  throw invalidAt(path, `"${trigger}" is not one of after:<step>, delay:<duration>, event:<type> and manual`)
}

const asked = (path: string, text: string | undefined, roots: Roots): PlanStep['when'] =>
  text === undefined ? null : withPath(path, () => ({ text, rule: compileRule(text, roots) }))

const inputOf = (step: PlanStepSource, roots: Roots): PlanStep['input'] => {
  const given = step.inputs ?? step.workflowConfig?.inputs
  return given === undefined ? null : compileValue(toJson({ ...step.inputs, ...step.workflowConfig?.inputs }), roots)
}

const textsOf = (step: PlanStepSource): readonly unknown[] => [
  step.inputs,
  step.workflowConfig,
  step.humanConfig,
  step.agentConfig?.context,
  step.approvalConfig,
  step.reviewConfig,
  step.when,
  step.each,
]

const READ = /\bsteps\.([A-Za-z_][\w-]*)|\bsteps\[\s*["']([^"']+)["']\s*\]/g
const AFTER = /^after:(.+)$/

interface Edges {
  readonly named: readonly string[]
  readonly read: readonly string[]
  /** It refers to `steps` without naming one. */
  readonly isAll: boolean
}

/** Steps that must come before it by name, and those whose output it reads, by `steps.<id>` or by the id alone. */
const edgesOf = (step: PlanStepSource): Edges => {
  const [, after] = AFTER.exec(step.trigger ?? '') ?? []
  const texts = textsOf(step)
  const written = JSON.stringify(texts)
  const spoken = [...written.matchAll(READ)].map(([, dotted, quoted]) => dotted ?? quoted ?? '')
  // `when` and `each` are expressions as a whole, the other texts contain expressions.
  const rules = [step.when ?? '', step.each ?? ''].flatMap(namesIn)
  const bare = [...rules, ...namesOf(texts.map((text) => toJson(text ?? null)))]
  return {
    named: [...(step.requires ?? []), ...(after === undefined ? [] : [after.trim()])],
    read: [...new Set([...spoken, ...bare])],
    isAll: /\bsteps\b/.test(written.replaceAll(READ, '')),
  }
}

interface Whole {
  readonly hands: ModalityByHandler
  readonly roots: Roots
  readonly ids: ReadonlySet<string>
}

const gateOf = (path: string, { gate }: PlanStepSource, work: PlanWork): Pick<PlanStep, 'gate'> => {
  if (gate === undefined) return {}
  if (work.kind !== 'call') throw invalidAt(`${path}.gate`, 'only a step that calls a handler can have this key')
  return { gate: oneOf(`${path}.gate`, gate, GATES) }
}

/** Only a person has a deadline here: a handler that takes over has its own timeout. */
const deadlineOfRule = (path: string, to: string, deadline: string | undefined): { readonly deadline?: string } => {
  if (deadline === undefined) return {}
  if (takesOver(to) !== null)
    throw invalidAt(`${path}.deadline`, `${to} is not a person; only a person can have a deadline`)
  withPath(`${path}.deadline`, () => durationMs(deadline))
  return { deadline }
}

const defineStep = (path: string, step: PlanStepSource, { hands, roots, ids }: Whole): PlanStep => {
  const { id, name = id, trigger, as = 'item', onFailure = 'fail', escalationRules = [] } = step
  const { named, read, isAll } = edgesOf(step)
  const stranger = named.find((other) => !ids.has(other))
  if (stranger !== undefined)
    throw new TrihandError('PLAN_BAD_REF', `${path}: ${id} requires ${stranger}, which is not a step`, {
      place: { path },
    })
  const reads = read.filter((other) => ids.has(other) && other !== id)
  const failing = oneOf(`${path}.onFailure`, onFailure, FAILURES)
  const work = workOf(path, step, hands, roots)
  return {
    ...{ id, name, as, reads },
    ...gateOf(path, step, work),
    ...stepTerms(path, step, work, roots),
    // The name of the step may be the question to a person, and it was not searched for expressions.
    readsAll: isAll || work.kind === 'ask',
    onReject: oneOf(`${path}.onReject`, step.onReject ?? 'skip', REJECTIONS),
    onParentEnd: oneOf(`${path}.onParentEnd`, step.onParentEnd ?? 'cancel', PARENT_ENDS),
    requires: [...new Set([...named, ...reads])],
    when: asked(`${path}.when`, step.when, roots),
    each: asked(`${path}.each`, step.each, roots),
    before: beforeOf(`${path}.trigger`, trigger),
    input: withPath(path, () => inputOf(step, roots)),
    work,
    // Plans are never made again automatically: `replan` asks a person.
    onFailure: failing === 'replan' ? 'human' : failing,
    escalation: escalationRules.map(({ condition, escalateTo = 'human', reason = condition, deadline }, i) => ({
      ...{ condition, escalateTo, reason },
      ...deadlineOfRule(`${path}.escalationRules.${i}`, escalateTo, deadline),
      rule: withPath(`${path}.escalationRules.${i}`, () => compileRule(condition, ['agent', 'output', 'payload'])),
    })),
  }
}

const EXPRESSION = /\{\{(.*?)\}\}/gs

/** Names that templates and expressions anywhere inside refer to. */
const namesOf = (value: Json): readonly string[] => {
  if (typeof value === 'string') return [...value.matchAll(EXPRESSION)].flatMap(([, inner = '']) => namesIn(inner))
  if (value === null || typeof value !== 'object') return []
  if (Array.isArray(value)) return value.flatMap(namesOf)
  return Object.entries(value).flatMap(([key, one]) =>
    key === 'expr' && typeof one === 'string' ? namesIn(one) : namesOf(one),
  )
}

/** The known roots, the ids of steps, and all other names, which must be fields of the plan's input. */
const rootsOf = (steps: readonly PlanStepSource[]): Roots => {
  const rules = steps.flatMap(({ when = '', each = '' }) => [...namesIn(when), ...namesIn(each)])
  const spoken = namesOf(toJson(steps.map(textsOf).map((texts) => texts.map((text) => toJson(text ?? null)))))
  const own = steps.flatMap(({ id, as }) => [id, as ?? 'item']).filter((name) => WORD.test(name))
  return rootsAmong([...new Set<string>([...ROOTS, ...own, ...rules, ...spoken])])
}

/** Changes are made by a step before the question, or by no step. */
const checkReturns = (path: string, given: readonly PlanStepSource[], steps: readonly PlanStep[]): void => {
  for (const { id, humanConfig } of given)
    for (const action of humanConfig?.actions ?? humanConfig?.allowedActions ?? []) {
      const to = typeof action === 'string' ? undefined : action.returnsTo
      if (to === undefined || againFor(steps, to, id).length > 0) continue
      const place = { path: `${path}.steps.${id}.humanConfig` }
      throw new TrihandError('PLAN_BAD_REF', `${place.path}: ${id} returns to ${to}, which is not an earlier step`, {
        place,
      })
    }
}

export const definePlan = (path: string, source: PlanSource, hands: ModalityByHandler): PlanSpec => {
  const given = stepsOf(source, path, hands)
  if (given.length > MAX_STEPS) throw invalidAt(path, `${given.length} steps; at most ${MAX_STEPS} are allowed`)
  const ids = new Set(given.map(({ id }) => id))
  if (ids.size < given.length) throw invalidAt(path, 'two steps have the same id')
  const whole = { hands, ids, roots: rootsOf(given) }
  const steps = given.map((step) => defineStep(`${path}.steps.${step.id}`, step, whole))
  const circle = circleIn(steps)
  if (circle !== null) {
    const place = { path: `${path}.steps.${circle[0]}` }
    throw new TrihandError('PLAN_CYCLE', `${place.path}: ${circle.join(' → ')} is a cycle`, { place })
  }
  checkReturns(path, given, steps)
  return {
    goal: source.goal ?? '',
    approve: oneOf(`${path}.approve`, source.approve ?? 'human', ['human', 'auto']),
    steps,
    written: given,
  }
}
