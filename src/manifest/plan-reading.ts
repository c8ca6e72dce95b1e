/**
 * A plan that somebody wrote, read against a system: what would be done, by whom, and everything that is wrong with it.
 *
 * Owns which mistakes are found and where they are. Throws for none of them: a draft may be kept while it is wrong. What a step means
 * is plans.ts, as for plans that are declared.
 */
import { turnHandler } from '../model/chat.ts'
import { type ErrorCode, TrihandError } from '../model/errors.ts'
import { canonical, toJson } from '../model/json.ts'
import { nearest } from '../model/nearest.ts'
import { handOfLine, linesOf, type PlanLine, type PlanSpec } from '../model/plan.ts'
import type { PlanContent, PlanProblem, PlanRevision } from '../model/plan-draft.ts'
import type { PlanStepSource } from '../model/plan-source.ts'
import { planLines, writePlanText } from '../model/plan-text.ts'
import { isOwn } from './own.ts'
import { definePlan, type Hands, stepsOf } from './plans.ts'
import type { System } from './system.ts'

type Digest = (text: string) => string

const HASH_LENGTH = 16
const PATH = 'plan'

/** Handlers that may do a step: a turn of a chat is none, nor is one that its triggers alone start. */
export const handsIn = (functions: System['functions'], chats: Iterable<string>): Hands => {
  const turns = new Set([...chats].map(turnHandler))
  const known = [...functions.values()].filter(({ name, internal }) => !isOwn(name) && !turns.has(name) && !internal)
  return new Map(known.map(({ name, modality }) => [name, modality]))
}

export const contentHash = ({ goal, steps, hands }: PlanContent, digest: Digest): string =>
  digest(canonical(toJson({ goal, steps, hands }))).slice(0, HASH_LENGTH)

/** A plan as it was ordered, in the normal form: by the hands that were approved with it. */
export const defineContent = ({ goal, steps, hands }: PlanContent): PlanSpec =>
  definePlan(PATH, { goal, steps, approve: 'auto' }, new Map(Object.entries(hands)))

/** Steps in the author's form, or what was wrong before they could be that. */
export interface WrittenPlan {
  readonly steps: readonly PlanStepSource[]
  readonly problems: readonly PlanProblem[]
}

const problem = (code: ErrorCode, message: string, step: string | null, line: number | null = null): PlanProblem => ({
  ...{ code, line, step, message },
})

const writtenText = (text: string, hands: Hands): WrittenPlan => {
  const lines = planLines(text)
  const unread = lines.filter(({ step }) => step === null)
  const problems = unread.map((one) =>
    problem('PLAN_SYNTAX', `"${one.text}": expected a step such as "a. Get all contacts"`, null, one.line),
  )
  if (lines.length === 0) return { steps: [], problems: [problem('PLAN_SYNTAX', 'there is no step', null, 1)] }
  return { problems, steps: problems.length > 0 ? [] : stepsOf({ text }, PATH, hands) }
}

const badReferences = (steps: readonly PlanStepSource[]): readonly PlanProblem[] => {
  const ids = steps.map(({ id }) => id)
  return steps.flatMap(({ id, requires = [] }) =>
    requires
      .filter((other) => !ids.includes(other))
      .map((other) => {
        const near = nearest(other, ids)
        return problem('PLAN_BAD_REF', `${id} requires ${other}, which is no step${meant(near)}`, id)
      }),
  )
}

const meant = (near: string | null): string => (near === null ? '' : `; did you mean ${near}?`)

const OF_STEP = /^plan\.steps\.([^.]+)/

/** What the definition of plans refuses, as a problem. */
const defined = (content: PlanContent, hands: Hands): PlanSpec | PlanProblem => {
  try {
    return definePlan(PATH, { goal: content.goal, steps: content.steps, approve: 'auto' }, hands)
  } catch (error) {
    if (!(error instanceof TrihandError)) throw error
    return problem(error.code, error.detail, OF_STEP.exec(error.place?.path ?? '')?.[1] ?? null)
  }
}

const unassigned = (lines: readonly PlanLine[], hands: Hands): readonly PlanProblem[] =>
  lines
    .filter(({ by }) => by === 'nobody')
    .map(({ id, name }) => {
      const near = nearest(name.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-'), [...hands.keys()])
      return problem('PLAN_UNASSIGNED', `nobody in this system does ${id}, "${name}"${meant(near)}`, id)
    })

const asWritten = ({ id, name = id, requires = [] }: PlanStepSource): PlanLine => ({ id, name, requires, by: 'nobody' })

/** Everything that is wrong with steps that could be read. */
const judged = (
  content: PlanContent,
  hands: Hands,
): { readonly lines: readonly PlanLine[]; readonly problems: readonly PlanProblem[] } => {
  const lines = content.steps.map(asWritten)
  const strangers = badReferences(content.steps)
  if (strangers.length > 0) return { lines, problems: strangers }
  const spec = defined(content, hands)
  if ('code' in spec) return { lines, problems: [spec] }
  const shown = linesOf(spec.steps)
  return { lines: shown, problems: unassigned(shown, hands) }
}

const placed = (problems: readonly PlanProblem[], text: string): readonly PlanProblem[] => {
  const lines = planLines(text)
  return problems.map((one) => ({
    ...one,
    line: one.line ?? lines.find(({ step }) => step !== null && step.id === one.step)?.line ?? null,
  }))
}

interface World {
  readonly hands: Hands
  readonly digest: Digest
}

export const readSteps = (goal: string, written: WrittenPlan, world: World): PlanRevision =>
  revisionOf(goal, written, null, world)

export const readText = (goal: string, text: string, world: World): PlanRevision =>
  revisionOf(goal, writtenText(text, world.hands), text, world)

const revisionOf = (
  goal: string,
  written: WrittenPlan,
  text: string | null,
  { hands, digest }: World,
): PlanRevision => {
  const content = { goal, steps: written.steps, hands: {} }
  const found = written.problems.length > 0 ? { lines: [], problems: written.problems } : judged(content, hands)
  const used = found.lines.flatMap(({ by }) => {
    const hand = hands.get(by)
    return hand === undefined ? [] : [[by, hand] as const]
  })
  const whole = { ...content, hands: Object.fromEntries(used) }
  return {
    ...whole,
    hash: contentHash(whole, digest),
    text: text ?? writePlanText(found.lines),
    isText: text !== null,
    lines: found.lines.map((line) => ({ ...line, hand: handOfLine(line, hands) })),
    problems: text === null ? found.problems : placed(found.problems, text),
  }
}
