/**
 * `trihand runs resolve` and `trihand inbox resolve`: answers "did it happen?" for one step or for all of one cause.
 *
 * Both answer the task that asks: the person sees it, types its confirmation and acknowledges its warning. Without a terminal, flags say
 * what was seen (`--hash`), typed (`--confirm`) and acknowledged (`--acknowledge`).
 */
import type { Api } from '#cli/connect/api.ts'
import { withApi } from '#cli/connect/connect.ts'
import { requireWho, type WhoFlags } from '#cli/connect/who.ts'
import { exitCodeFor, settled } from '#cli/events/follow.ts'
import { pathOf, printTask } from '#cli/inbox/tasks.ts'
import { confirmed, requireTerminal } from '#cli/terminal/confirm.ts'
import { parseJson } from '#cli/terminal/json-argument.ts'
import { queryText } from '#cli/terminal/listing.ts'
import { EXIT, visible } from '#cli/terminal/output.ts'
import type { Shell, Verb } from '#cli/terminal/shell.ts'
import type { RunDetail, TaskAction, TaskDetail, TaskSummary, TaskVerdict } from '#http/openapi/api.ts'
import type { Page } from '#http/server/query.ts'
import { TrihandError } from '#model/kernel/errors.ts'
import { type CommandFlags, printRun } from './command.ts'

const ACTIONS = { happened: 'it_happened', run_again: 'run_again', abort: 'abort' } as const
const MAX_TOGETHER = 100
const PAGE = '200'

interface AnswerFlags extends WhoFlags {
  readonly verdict: string
  readonly result?: string
  readonly reason?: string
  readonly confirm?: string
  readonly acknowledge?: boolean
}

export interface ResolveFlags extends AnswerFlags, CommandFlags {
  readonly step: string
  readonly hash?: string
}

export interface ResolveManyFlags extends AnswerFlags {
  readonly cause: string
  readonly step?: string
}

const actionNameOf = ({ verdict }: AnswerFlags): string => {
  if (Object.hasOwn(ACTIONS, verdict)) return ACTIONS[verdict as keyof typeof ACTIONS]
  throw new TrihandError(
    'CONFIG_INVALID',
    `verdict is "${verdict}"; expected one of ${Object.keys(ACTIONS).join(', ')}`,
  )
}

const actionIn = ({ actions }: TaskDetail, name: string): TaskAction => {
  const action = actions.find((one) => one.name === name)
  if (action === undefined) throw new TrihandError('ACTION_NOT_ALLOWED', `the task has no action ${name}`)
  return action
}

/** The person's confirmation; null: they declined. */
const meant = async (shell: Shell, text: string, action: TaskAction, flags: AnswerFlags) => {
  const { confirm, warning } = action
  if (flags.confirm !== undefined) return { confirm: flags.confirm, acknowledged: flags.acknowledge === true }
  const word = confirm === null ? {} : { word: confirm }
  const flag = `--confirm "${confirm ?? ''}"${warning === null ? '' : ' with --acknowledge'}`
  const question = { text: warning === null ? text : `${warning}\n${text}`, flag, ...word }
  return (await confirmed(shell.output, question)) ? { confirm, acknowledged: warning !== null } : null
}

const bodyOf = (action: string, hash: string, { result, reason }: AnswerFlags) => ({
  ...{ action, shown_hash: hash },
  ...(reason !== undefined && { reason }),
  ...(result !== undefined && { fields: { result: parseJson(result, 'the result') } }),
})

const nothingDone = (shell: Shell): number => {
  shell.output.talk('nothing was decided')
  return EXIT.no
}

/** The task that asks about this step of this run. */
const taskIdOf = async (
  api: Api,
  id: string,
  step: string,
): Promise<{ readonly run: string; readonly task: string }> => {
  const run = await api.get<RunDetail>(`/api/runs/${encodeURIComponent(id)}`)
  const wait = run.waiting_on.find((one) => one.kind === 'uncertain' && one.step === step)
  if (wait?.task != null) return { run: run.id, task: wait.task }
  if (run.waiting_on.some((one) => one.kind === 'intended' && one.step === step))
    throw new TrihandError(
      'STEP_AT_WORK',
      `${step} may still be running; if its worker does not report back, a person is asked`,
    )
  throw new TrihandError('NOT_FOUND', `this run has no uncertain step ${step}`)
}

export const resolveStep: Verb<ResolveFlags> = (shell, flags) => {
  const name = actionNameOf(flags)
  return withApi(shell, flags, { need: 'work' }, async (api) => {
    const { run, task: id } = await taskIdOf(api, flags.id, flags.step)
    const who = requireWho(flags)
    const task = await api.get<TaskDetail>(pathOf(id), who)
    const action = actionIn(task, name)
    const { hash = task.shown_hash } = flags
    if (flags.hash === undefined) {
      const text = `${action.label}: "${task.title}" as ${flags.as}?`
      requireTerminal(shell.output, { text, flag: '--hash, as `trihand inbox show` prints it, with --confirm' })
      printTask(shell.output, task)
    }
    const answer = await meant(shell, `${action.label}: "${task.title}" as ${flags.as}?`, action, flags)
    if (answer === null) return nothingDone(shell)
    await api.post(`${pathOf(id)}/decision`, { ...bodyOf(name, hash, flags), ...answer }, who)
    const runs = await settled(api, [run], flags.wait ?? null)
    for (const one of runs) printRun(shell.output, one)
    return flags.wait === undefined ? EXIT.done : exitCodeFor(runs)
  })
}

/** The open tasks of this cause in the caller's inbox. */
const ofCause = async (api: Api, flags: ResolveManyFlags, who: ReturnType<typeof requireWho>) => {
  const found: TaskSummary[] = []
  let cursor: string | null | undefined
  do {
    const query = queryText({ type: 'decision', order: 'oldest', limit: PAGE, cursor: cursor ?? undefined })
    const page: Page<TaskSummary> = await api.get<Page<TaskSummary>>(`/api/tasks${query}`, who)
    found.push(...page.items.filter(({ origin, cause }) => origin === 'uncertain' && cause === flags.cause))
    cursor = page.next_cursor
  } while (cursor != null && found.length < MAX_TOGETHER)
  const { step } = flags
  return found.filter(({ step_id }) => step === undefined || nameOf(step_id) === step).slice(0, MAX_TOGETHER)
}

/** A step name without its loop key. */
const nameOf = (step: string): string => step.split('[')[0] ?? step

/** All tasks must be about one step name, because one confirmation is typed for all. */
const requireOneStep = (tasks: readonly TaskSummary[], { cause }: ResolveManyFlags): void => {
  const names = [...new Set(tasks.map(({ step_id }) => nameOf(step_id)))]
  if (names.length === 0)
    throw new TrihandError('NOT_FOUND', `your inbox has no open question with the cause "${cause}"`)
  if (names.length > 1)
    throw new TrihandError(
      'CONFIG_INVALID',
      `the questions are about several steps; choose one with --step (${names.join(', ')})`,
    )
}

/** If any of the actions has a warning, it applies to all. */
const strictest = (actions: readonly TaskAction[]): TaskAction =>
  actions.find(({ warning }) => warning !== null) ?? (actions[0] as TaskAction)

export const resolveMany: Verb<ResolveManyFlags> = (shell, flags) => {
  const name = actionNameOf(flags)
  return withApi(shell, flags, { need: 'work' }, async (api) => {
    const who = requireWho(flags)
    const rows = await ofCause(api, flags, who)
    requireOneStep(rows, flags)
    const tasks = await Promise.all(rows.map(({ id }) => api.get<TaskDetail>(pathOf(id), who)))
    const action = strictest(tasks.map((task) => actionIn(task, name)))
    const text = `${action.label}: all ${tasks.length} questions of "${flags.cause}" as ${flags.as}?`
    if (flags.confirm === undefined) {
      requireTerminal(shell.output, { text, flag: '--confirm' })
      for (const task of tasks) printTask(shell.output, task)
    }
    const answer = await meant(shell, text, action, flags)
    if (answer === null) return nothingDone(shell)
    const decisions = tasks.map((task) => ({ task: task.id, ...bodyOf(name, task.shown_hash, flags), ...answer }))
    const { items } = await api.post<{ items: readonly TaskVerdict[] }>('/api/tasks/decisions', { decisions }, who)
    return printVerdicts(shell, items)
  })
}

const printVerdicts = (shell: Shell, items: readonly TaskVerdict[]): number => {
  if (shell.output.isJson) shell.output.document({ items })
  else
    shell.output.table(
      items.map(({ task, state, problem }) => [task, state ?? problem?.code ?? '', visible(problem?.detail ?? '')]),
    )
  return items.every(({ problem }) => problem === undefined) ? EXIT.done : EXIT.no
}
