/**
 * Reads a submitted plan against a system: what would be done, by which handler, and every mistake in it.
 *
 * Owns which mistakes are found and where they are. Never throws for a mistake: a draft may be kept while it is wrong. What a step means
 * is plans.ts, as for plans that are declared.
 */
import { isOwn } from '#manifest/define/builtin-functions.ts'
import type { FunctionDefinition, System } from '#manifest/define/system.ts'
import type { AgentSpec } from '#model/agent/agent.ts'
import { turnHandler } from '#model/chat/chat.ts'
import { type ErrorCode, TrihandError } from '#model/kernel/errors.ts'
import { canonical, type Json, toJson } from '#model/kernel/json.ts'
import { nearest } from '#model/kernel/nearest.ts'
import type { PlanContent, PlanProblem, PlanRevision } from '#model/plan/draft.ts'
import type { PlanSpec } from '#model/plan/plan.ts'
import { type HandlerFacts, type NamedBy, type ShownStep, shownSteps, takesOver } from '#model/plan/shown.ts'
import type { PlanStepSource } from '#model/plan/source.ts'
import { planLines, writePlanText } from '#model/plan/text.ts'
import { definePlan, type ModalityByHandler, stepsOf } from './plans.ts'

type Digest = (text: string) => string

const HASH_LENGTH = 16
const PATH = 'plan'

type Handlers = ReadonlyMap<string, HandlerFacts>

const maxCostOf = ({ modality, code }: FunctionDefinition): number | null =>
  modality === 'agent' ? (code as AgentSpec).limits.maxCost : null

const mayOf = ({ modality, code, workflow }: FunctionDefinition): readonly string[] | null => {
  if (modality === 'agent') {
    const { allowedTools, subagents, mcpServers, handoffs } = code as AgentSpec
    const named = [...subagents, ...mcpServers].map(({ name }) => name)
    return [...new Set([...allowedTools, ...named, ...handoffs])]
  }
  return modality === 'human' || workflow.operations === null ? null : [...workflow.operations]
}

/** What people are shown about the handler of a step. */
const handlerFacts = (definition: FunctionDefinition): HandlerFacts => {
  const { modality, effect } = definition
  const models = modality === 'agent' ? (definition.code as AgentSpec).allowedModels : []
  const facts = { modality, effect, maxCost: maxCostOf(definition), may: mayOf(definition) }
  return models.length === 0 ? facts : { ...facts, allowedModels: models }
}

/** Handlers that may do a step: not the turn of a chat, and not one that only its triggers start. */
export const handlersIn = (functions: System['functions'], chats: Iterable<string>): Handlers => {
  const turns = new Set([...chats].map(turnHandler))
  const known = [...functions.values()].filter(({ name, internal }) => !isOwn(name) && !turns.has(name) && !internal)
  return new Map(known.map((definition) => [definition.name, handlerFacts(definition)]))
}

/** call-terms-1: steps that would perform a handler's work with less care than it declares, or with a model that it may not use. */
const widened = ({ steps, written }: PlanSpec, handlers: Handlers) =>
  steps.flatMap(({ id, work }, i) => {
    const handler = work.kind === 'call' ? work.handler : ''
    const { effect: own, allowedModels: models } = handlers.get(handler) ?? {}
    const { effect: asked, agentConfig: { model } = {} } = written[i] ?? {}
    const isWeaker = own !== undefined && asked !== undefined && own !== 'idempotent' && own !== asked
    const isStranger = model !== undefined && models !== undefined && !models.includes(model)
    return [
      ...(isWeaker
        ? [
            {
              step: id,
              key: 'effect',
              message: `${handler} is ${own}; a step cannot make it ${asked}; omit the key`,
            },
          ]
        : []),
      ...(isStranger
        ? [{ step: id, key: 'agentConfig.model', message: `${handler} may use ${models.join(', ')}, but not ${model}` }]
        : []),
    ]
  })

/** Declared plans, with what people are shown of them. */
export const withShownPlans = (functions: System['functions'], digest: Digest): System['functions'] => {
  const handlers = new Map([...functions].map(([name, definition]) => [name, handlerFacts(definition)] as const))
  const shown = (definition: FunctionDefinition): FunctionDefinition => {
    const { plan } = definition.workflow
    if (plan === null) return definition
    const [weaker] = widened(plan, handlers)
    if (weaker !== undefined) {
      const path = `functions.${definition.name}.plan.steps.${weaker.step}.${weaker.key}`
      throw new TrihandError('MANIFEST_INVALID', `${path}: ${weaker.message}`, { place: { path } })
    }
    const lines = shownSteps(plan, { handlers, namedBy: () => 'person' })
    const hash = contentHash({ goal: plan.goal, steps: plan.written, hands: {}, lines, goalBy: 'person' }, digest)
    return { ...definition, workflow: { ...definition.workflow, plan: { ...plan, shown: lines, hash } } }
  }
  return new Map([...functions].map(([name, definition]) => [name, shown(definition)] as const))
}

const handsOf = (handlers: Handlers): ModalityByHandler =>
  new Map([...handlers].map(([name, { modality }]) => [name, modality] as const))

/** plan-draft-4: covers what people are shown, too. Older content without `lines` is hashed without them. */
export const contentHash = (content: PlanContent, digest: Digest): string => {
  const { goal, steps, hands, lines, goalBy, worksOn } = content
  const shown = lines === undefined ? {} : { lines, goalBy, ...(worksOn === undefined ? {} : { worksOn }) }
  return digest(canonical(toJson({ goal, steps, hands, ...shown }))).slice(0, HASH_LENGTH)
}

/** A plan as it was ordered, in the normal form: with the handlers that were approved with it. */
export const defineContent = ({ goal, steps, hands }: PlanContent): PlanSpec =>
  definePlan(PATH, { goal, steps, approve: 'auto' }, new Map(Object.entries(hands)))

/** Steps in the author's form, or the mistakes that prevent that. */
export interface WrittenPlan {
  readonly steps: readonly PlanStepSource[]
  readonly problems: readonly PlanProblem[]
}

const problem = (code: ErrorCode, message: string, step: string | null, line: number | null = null): PlanProblem => ({
  ...{ code, line, step, message },
})

const writtenText = (text: string, hands: ModalityByHandler): WrittenPlan => {
  const lines = planLines(text)
  const unread = lines.filter(({ step }) => step === null)
  const problems = unread.map((one) =>
    problem('PLAN_SYNTAX', `"${one.text}": expected a step such as "a. Get all contacts"`, null, one.line),
  )
  if (lines.length === 0) return { steps: [], problems: [problem('PLAN_SYNTAX', 'the plan has no steps', null, 1)] }
  return { problems, steps: problems.length > 0 ? [] : stepsOf({ text }, PATH, hands) }
}

const badReferences = (steps: readonly PlanStepSource[]): readonly PlanProblem[] => {
  const ids = steps.map(({ id }) => id)
  return steps.flatMap(({ id, requires = [] }) =>
    requires
      .filter((other) => !ids.includes(other))
      .map((other) => {
        const near = nearest(other, ids)
        return problem('PLAN_BAD_REF', `${id} requires ${other}, which is not a step${meant(near)}`, id)
      }),
  )
}

const meant = (near: string | null): string => (near === null ? '' : `; did you mean ${near}?`)

const OF_STEP = /^plan\.steps\.([^.]+)/

/** Turns a refusal by the definition of plans into a problem. */
const defined = (content: PlanContent, hands: ModalityByHandler): PlanSpec | PlanProblem => {
  try {
    return definePlan(PATH, { goal: content.goal, steps: content.steps, approve: 'auto' }, hands)
  } catch (error) {
    if (!(error instanceof TrihandError)) throw error
    return problem(error.code, error.detail, OF_STEP.exec(error.place?.path ?? '')?.[1] ?? null)
  }
}

/** An agent may hand over only to people, or to a handler that may do a step. */
const strangersIn = ({ steps }: PlanSpec, hands: ModalityByHandler): readonly PlanProblem[] =>
  steps.flatMap(({ id, escalation }) =>
    escalation.flatMap(({ escalateTo }) => {
      const handler = takesOver(escalateTo)
      if (handler === null || hands.has(handler)) return []
      const near = nearest(handler, [...hands.keys()])
      return [problem('PLAN_UNASSIGNED', `${id} hands over to ${handler}, which does no step${meant(near)}`, id)]
    }),
  )

const unassigned = (lines: readonly ShownStep[], hands: ModalityByHandler): readonly PlanProblem[] =>
  lines
    .filter(({ by }) => by === 'nobody')
    .map(({ id, name }) => {
      const near = nearest(name.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-'), [...hands.keys()])
      return problem('PLAN_UNASSIGNED', `no handler in this system does ${id}, "${name}"${meant(near)}`, id)
    })

/** A step that cannot be read, and so cannot be approved. */
const asWritten = ({ id, name = id, requires = [] }: PlanStepSource, { namedBy }: World): ShownStep => ({
  ...{ id, name, namedBy: namedBy(name), requires, by: 'nobody', hand: null, operation: 'cannot be read' },
  ...{ inputs: [], inputFrom: null, effect: null, may: null, maxCost: null, rules: [] },
})

/** Every mistake in steps that could be read. */
const judged = (
  content: PlanContent,
  world: World,
): { readonly lines: readonly ShownStep[]; readonly problems: readonly PlanProblem[] } => {
  const hands = handsOf(world.handlers)
  const lines = content.steps.map((step) => asWritten(step, world))
  const strangers = badReferences(content.steps)
  if (strangers.length > 0) return { lines, problems: strangers }
  const spec = defined(content, hands)
  if ('code' in spec) return { lines, problems: [spec] }
  const shown = shownSteps(spec, world)
  const weaker = widened(spec, world.handlers).map(({ step, message }) => problem('INPUT_INVALID', message, step))
  return { lines: shown, problems: [...unassigned(shown, hands), ...strangersIn(spec, hands), ...weaker] }
}

const placed = (problems: readonly PlanProblem[], text: string): readonly PlanProblem[] => {
  const lines = planLines(text)
  return problems.map((one) => ({
    ...one,
    line: one.line ?? lines.find(({ step }) => step !== null && step.id === one.step)?.line ?? null,
  }))
}

interface World {
  readonly handlers: Handlers
  readonly digest: Digest
  /** The input of every run of the plan; absent: each run has its own. */
  readonly worksOn?: Json
  /** Who chose this name or goal. */
  namedBy(name: string): NamedBy
}

export const readSteps = (goal: string, written: WrittenPlan, world: World): PlanRevision =>
  revisionOf(goal, written, null, world)

export const readText = (goal: string, text: string, world: World): PlanRevision =>
  revisionOf(goal, writtenText(text, handsOf(world.handlers)), text, world)

const revisionOf = (goal: string, written: WrittenPlan, text: string | null, world: World): PlanRevision => {
  const { handlers, digest, namedBy, worksOn } = world
  const content = { goal, steps: written.steps, hands: {} }
  const found = written.problems.length > 0 ? { lines: [], problems: written.problems } : judged(content, world)
  const used = found.lines.flatMap(({ by }) => {
    const hand = handlers.get(by)
    return hand === undefined ? [] : [[by, hand.modality] as const]
  })
  const shown = { lines: found.lines, goalBy: namedBy(goal), ...(worksOn === undefined ? {} : { worksOn }) }
  const whole = { ...content, hands: Object.fromEntries(used), ...shown }
  return {
    ...whole,
    hash: contentHash(whole, digest),
    text: text ?? writePlanText(found.lines),
    isText: text !== null,
    problems: text === null ? found.problems : placed(found.problems, text),
  }
}
