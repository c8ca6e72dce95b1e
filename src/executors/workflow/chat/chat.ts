/**
 * A turn of a chat: one ordinary run from a user's message to the saved answer.
 *
 * Owns the order: the message is saved, an agent decides, the policy checks, a person approves where required, an executor works, the
 * answer is saved. Each is a step with a name, so a crash between any two continues with the next: one message, one answer, one
 * bill. What may be decided and done is model/chat/chat.ts.
 *
 * chat-turn-1  The message is stored in the session before the agent is called, and the answer before anyone is notified of it.
 */
import { type FunctionContext, fn } from '#executors/workflow/function.ts'
import { chatInput } from '#model/chat/call.ts'
import {
  APPROVED_SECTION,
  answerId,
  type ChatDecision,
  type ChatHead,
  type ChatMessage,
  type ChatPart,
  type ChatPlan,
  type ChatSpec,
  type ChatVerdict,
  decisionOf,
  firstRecent,
  HEAD_KEY,
  judgeDecision,
  messageKey,
  recentMessages,
  type TurnInput,
  textOfMessage,
  titleOf,
  turnHandler,
} from '#model/chat/chat.ts'
import { type Instant, planId } from '#model/kernel/ids.ts'
import { isJsonRecord, type Json } from '#model/kernel/json.ts'
import { PLAN_RUN, type PlanDraft, type PlanRunInput } from '#model/plan/draft.ts'
import { stepMembers } from '#model/plan/shown.ts'
import { isStepFailure } from '#model/run/step-failure.ts'
import type { FunctionSource } from '#model/workflow/function-source.ts'
import type { PlanService } from '#ports/plan-service.ts'
import type { AskReply } from '#ports/step-port.ts'

// The parts of an answer that report an action: done, failed, or not allowed.

interface Asked {
  readonly executor: string
  readonly input: Json
}

const isYes = ({ status }: AskReply): boolean => status === 'approved' || status === 'completed'
const noOf = ({ feedback, decision }: AskReply): string => feedback ?? `a person decided ${decision}`

const denied = ({ executor, input }: Asked, detail: string): ChatPart => ({
  type: 'execution',
  ...{ executor, input, state: 'denied', output: null, detail },
})

const failed = ({ executor, input }: Asked, detail: string): ChatPart => ({
  type: 'execution',
  ...{ executor, input, state: 'failed', output: null, detail },
})

/** The readable text of a result: a text itself, or the content of what an executor returns. */
const textIn = (output: Json): string | null => {
  if (typeof output === 'string') return output
  const content = isJsonRecord(output) ? output['content'] : null
  return typeof content === 'string' ? content : null
}

/** If an executor fails, the answer says so. */
const performed = async (asked: Asked, work: () => Promise<Json>): Promise<readonly ChatPart[]> => {
  try {
    const output = await work()
    const text = textIn(output)
    const done: ChatPart = { type: 'execution', ...asked, state: 'done', output, detail: null }
    return text === null ? [done] : [done, { type: 'text', text }]
  } catch (error) {
    if (!isStepFailure(error)) throw error
    return [failed(asked, `${error.code}: ${error.message}`)]
  }
}

/*
 * A plan in a turn of a chat: kept as a draft, shown, approved by its hash, and run as any drafted plan is.
 * Owns that order; each part is a step of the turn. What has errors is told and not asked about.
 */

interface PlanTurn {
  readonly context: Pick<FunctionContext, 'run' | 'step'>
  readonly planService: PlanService
  /** The author of the proposal. */
  readonly by: string
  approve(plan: ChatPlan): Promise<AskReply>
}

const asShown = ({ id, current }: PlanDraft): ChatPlan => {
  const { goal, goalBy, hash, worksOn = {}, lines, problems } = current
  return { id, goal, goalBy, hash, input: worksOn, steps: lines, problems }
}

/** The input is proposed with the steps, even if there is none: approving the steps approves the input. */
const proposalOf = (task: Json): Json => (isJsonRecord(task) ? { ...task, input: task['input'] ?? {} } : task)

const problemsOf = ({ problems }: ChatPlan): string =>
  problems.map(({ line, message }) => (line === null ? message : `line ${line}: ${message}`)).join('; ')

/** Recorded as it was shown, and read back so: the system may have changed by the time it is approved. */
const shownPlan = async ({ step }: Pick<FunctionContext, 'step'>, plan: ChatPlan): Promise<ChatPlan> =>
  (await step.run('plan', () => plan as unknown as Json)) as unknown as ChatPlan

const planAnswer = async (decision: ChatDecision, turn: PlanTurn): Promise<readonly ChatPart[]> => {
  const { run, step } = turn.context
  const asked = { executor: decision.executor ?? '', input: decision.task }
  const id = planId(run.id.slice('run_'.length))
  try {
    const plan = (await step.run('plan', async () =>
      asShown(await turn.planService.propose(run.tenant, id, proposalOf(decision.task), turn.by)),
    )) as unknown as ChatPlan
    const shown: ChatPart = { type: 'plan', plan }
    if (plan.problems.length > 0) return [shown, failed(asked, problemsOf(plan))]
    const reply = await turn.approve(plan)
    if (!isYes(reply)) return [shown, denied(asked, noOf(reply))]
    const word = { hash: plan.hash, by: reply.decidedBy ?? '' }
    const order = await step.run('agree', () => turn.planService.agree(run.tenant, id, word))
    return [
      shown,
      ...(await performed(asked, () => step.invoke('execute', PLAN_RUN, order as unknown as PlanRunInput))),
    ]
  } catch (error) {
    if (!isStepFailure(error)) throw error
    return [failed(asked, `${error.code}: ${error.message}`)]
  }
}

/** What the agent returns: its decision, and what its parent must know about it. */
interface Decided {
  readonly decision: ChatDecision
  readonly simulated: boolean
  readonly tokens: number | null
}

interface Opened {
  /** The position of the message; its answer has the next one. */
  readonly at: number
  /** The message was answered before. */
  readonly answered: boolean
}

const asMessage = (value: Json | null): readonly ChatMessage[] =>
  value === null ? [] : [value as unknown as ChatMessage]
const asJson = (value: object): Json => value as unknown as Json

/** What a turn needs from outside its run. */
interface TurnWorld {
  readonly planService: PlanService
  now(): Instant
}

/** One turn of one chat, at its current point. */
class ChatTurn {
  private readonly spec: ChatSpec
  private readonly context: FunctionContext<TurnInput>
  private readonly world: TurnWorld

  constructor(spec: ChatSpec, context: FunctionContext<TurnInput>, world: TurnWorld) {
    this.spec = spec
    this.context = context
    this.world = world
  }

  async run(): Promise<Json> {
    const { step, run } = this.context
    const opened = (await step.run('open', ({ remember }) => this.open(remember))) as unknown as Opened
    if (opened.answered) return { answered: true }
    try {
      const decided = await this.asked(opened)
      const verdict = await step.run('policy', () => asJson(judgeDecision(decided.decision, this.spec)))
      const parts = await this.answer(decided.decision, verdict as unknown as ChatVerdict, opened)
      await this.save('save', opened, { ...decided, parts, error: null })
      return { message: answerId(run.id) }
    } catch (error) {
      if (!isStepFailure(error)) throw error
      const failure = { code: error.code, message: error.message }
      await this.save('save failure', opened, { parts: [], error: failure, simulated: false, tokens: null })
      throw error
    }
  }

  // -- the conversation -------------------------------------------------------------------------------------------------

  private async head(): Promise<ChatHead | null> {
    return (await this.context.recall(HEAD_KEY)) as unknown as ChatHead | null
  }

  /** The last messages before this position. */
  private async messagesBefore(place: number): Promise<readonly ChatMessage[]> {
    const first = firstRecent(place)
    const places = Array.from({ length: place - first }, (_, i) => first + i)
    const found = await Promise.all(places.map((i) => this.context.recall(messageKey(i))))
    return found.flatMap(asMessage)
  }

  /** chat-turn-1. A message that is sent again has its position already: it was answered, or its failed turn is tried again. */
  private async open(remember: (key: string, value: Json) => void): Promise<Json> {
    const { input, run } = this.context
    const head = await this.head()
    const count = head?.count ?? 0
    const known = await this.placeOf(input.message.id, count)
    if (known?.answered === true) return asJson(known)
    const at = known?.at ?? count
    const title = head?.title ?? titleOf(input.message.text)
    const next: ChatHead = {
      id: input.chat,
      name: this.spec.name,
      title,
      count: Math.max(count, at + 1),
      turn: run.id,
      at: input.at,
    }
    const message: ChatMessage = {
      ...{ id: input.message.id, role: 'user', at: input.at, run: run.id },
      ...{ simulated: false, tokens: null, error: null },
      parts: [{ type: 'text', text: input.message.text }],
    }
    remember(messageKey(at), asJson(message))
    remember(HEAD_KEY, asJson(next))
    return asJson({ at, answered: false })
  }

  private async placeOf(id: string, count: number): Promise<Opened | null> {
    const messages = await this.messagesBefore(count)
    const found = messages.findLastIndex((message) => message.role === 'user' && message.id === id)
    if (found < 0) return null
    const answer = messages[found + 1]
    return { at: count - messages.length + found, answered: answer?.role === 'assistant' && answer.error === null }
  }

  private async save(
    step: string,
    { at }: Opened,
    said: Pick<ChatMessage, 'parts' | 'simulated' | 'tokens' | 'error'>,
  ): Promise<void> {
    const { context } = this
    await context.step.run(step, async ({ remember }) => {
      const head = await this.head()
      const { parts, simulated, tokens, error } = said
      const about = {
        id: answerId(context.run.id),
        role: 'assistant',
        at: this.world.now(),
        run: context.run.id,
      } as const
      const message: ChatMessage = { ...about, parts, simulated, tokens, error }
      remember(messageKey(at + 1), asJson(message))
      if (head !== null) remember(HEAD_KEY, asJson({ ...head, count: Math.max(head.count, at + 2), at: message.at }))
      return asJson(message)
    })
  }

  // -- the decision -----------------------------------------------------------------------------------------------------

  private rules(): string {
    const lines = this.spec.executors.map(({ name, description }) => `- ${name}${description && `: ${description}`}`)
    return [
      'You decide what happens with the last message of a chat. Answer with one JSON object:',
      '`action` is `reply` to answer, `ask` to ask back, `refuse`, or `execute` to have something done; `reply` is what the user reads.',
      'To execute, name one of these in `executor_type` and give it its input in `task`:',
      ...(lines.length === 0 ? ['(nothing can be executed here)'] : lines),
    ].join('\n')
  }

  private async asked({ at }: Opened): Promise<Decided> {
    const { input, step } = this.context
    const before = recentMessages(await this.messagesBefore(at))
    const conversation = before.map((message) => ({ role: message.role, text: textOfMessage(message) }))
    const call = { prompt: input.message.text, conversation, rules: this.rules() }
    const answer = await step.invoke('decide', this.spec.agent, chatInput(call))
    const {
      output = null,
      simulated,
      spent,
    } = (isJsonRecord(answer) ? answer : {}) as {
      readonly [name: string]: Json
    }
    const tokens = isJsonRecord(spent ?? null) ? (spent as { readonly tokens?: number }).tokens : undefined
    // The agent has checked it against its schema; the answer of an agent with another schema is taken as text.
    const decision = decisionOf(output) ?? { ...SAY_NOTHING, reply: typeof output === 'string' ? output : '' }
    return { decision, simulated: simulated === true, tokens: tokens ?? null }
  }

  // -- what is done -----------------------------------------------------------------------------------------------------

  private async answer(decision: ChatDecision, verdict: ChatVerdict, opened: Opened): Promise<readonly ChatPart[]> {
    const said: readonly ChatPart[] = decision.reply === '' ? [] : [{ type: 'text', text: decision.reply }]
    if (verdict.kind === 'none') return said
    const executor = decision.executor ?? ''
    const call = { executor, input: decision.task }
    if (verdict.kind === 'deny') return [...said, denied(call, verdict.error.message)]
    const asked = this.spec.executors.find(({ name }) => name === executor)
    if (asked?.kind === 'plan') return [...said, ...(await this.plan(decision))]
    const plan = asked?.plan ?? null
    const seen = plan === null ? null : await shownPlan(this.context, { ...plan, input: decision.task })
    const shown: readonly ChatPart[] = seen === null ? said : [...said, { type: 'plan', plan: seen }]
    const approval = verdict.kind === 'ask' ? await this.approve(decision, plan) : null
    if (approval !== null && !isYes(approval)) return [...shown, denied(call, noOf(approval))]
    // A deployment may have changed the plan between the question and the answer.
    if (approval !== null && seen !== null && seen.hash !== plan?.hash)
      return [...shown, failed(call, `PLAN_STALE: ${executor} has changed since it was shown; ask for it again`)]
    const input = approval?.modifications?.[APPROVED_SECTION] ?? decision.task
    return [...shown, ...(await this.done(executor, input, opened))]
  }

  private plan(decision: ChatDecision): Promise<readonly ChatPart[]> {
    const { context, spec, world } = this
    const approve = (plan: ChatPlan): Promise<AskReply> => this.approve(decision, plan)
    return planAnswer(decision, { context, planService: world.planService, by: `chat ${spec.name}`, approve })
  }

  /** For a draft only its steps are shown, and it cannot be edited here: a person who wants changes revises it. */
  private approve({ executor, task, reply }: ChatDecision, plan: ChatPlan | null): Promise<AskReply> {
    const { asks, name } = this.spec
    const to = [...asks.users.map((user) => `user:${user}`), ...asks.groups.map((group) => `group:${group}`)]
    const steps = { id: 'plan', type: 'summary', title: 'Steps', content: planContent(plan) } as const
    const call = {
      id: APPROVED_SECTION,
      type: 'editable',
      title: executor ?? '',
      content: task,
      editable: true,
    } as const
    const isDraft = plan !== null && plan.id !== null
    return this.context.step.human('approve', {
      taskType: 'approval',
      title: `Chat ${name} wants to execute ${executor}`,
      instructions: 'Nothing is done before you approve. What you see is what will be done.',
      context: { message: this.context.input.message.text, said: reply },
      assign: to,
      bundle: { sections: [...(plan === null ? [] : [steps]), ...(isDraft ? [] : [call])] },
      actions: isDraft ? ['approve', 'reject'] : ['approve', 'edit', 'reject'],
    })
  }

  private done(executor: string, input: Json, opened: Opened): Promise<readonly ChatPart[]> {
    const isType = this.spec.executors.some(({ name, kind }) => name === executor && kind === 'type')
    return performed({ executor, input }, () =>
      isType ? this.perform(executor, input, opened) : this.context.step.invoke('execute', executor, input),
    )
  }

  /** executor-contract 2: the executor is given the conversation, and fetches nothing itself. */
  private async perform(type: string, input: Json, { at }: Opened): Promise<Json> {
    const conversation = recentMessages(await this.messagesBefore(at + 1))
    const snippet = conversation.map((message) => ({ role: message.role, content: textOfMessage(message) }))
    const task = isJsonRecord(input) ? input : { input }
    const { execute } = this.context.step
    const { result } = await execute('execute', { type, task, context: { conversation: snippet } })
    return result
  }
}

const SAY_NOTHING: ChatDecision = { action: 'reply', reply: '', executor: null, task: null, reason: null }

/** The input of a declared plan is the call, which is shown beside it. */
const planContent = (plan: ChatPlan | null): Json => {
  if (plan === null) return null
  const { id, goal, goalBy = 'person', hash, input = {}, steps } = plan
  const about = id === null ? {} : { plan: id, input }
  return { goal, goal_by: goalBy, ...about, hash, steps: steps.map(stepMembers) }
}

/** One function for each chat, added to the functions of the system. */
export const chatFunctions = (chats: readonly ChatSpec[], world: TurnWorld): readonly FunctionSource[] =>
  chats.map((spec) =>
    fn<TurnInput>(
      turnHandler(spec.name),
      {
        // The same message is the same turn; a turn that failed may be tried again with it.
        idempotency: { key: 'payload.chat + "\\n" + payload.message.id' },
        overlap: spec.whileRunning === 'reject' ? 'skip' : 'buffer_all',
        overlapKey: 'payload.chat',
        retry: { maxAttempts: 1 },
      },
      (context) => new ChatTurn(spec, context, world).run(),
    ),
  )
