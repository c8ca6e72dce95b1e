/**
 * `trihand inbox list` and `trihand tasks list|show|decide|claim|unclaim|reassign`: tasks for people, and their decisions. The interactive
 * commands are in inbox.ts.
 *
 * Owns flags and printing. A decision needs `--as` and the hash of what was shown, so that a script cannot act as a person by accident.
 */
import type { Headers } from '#cli/connect/api.ts'
import { withApi } from '#cli/connect/connect.ts'
import { headersOf, requireWho, type WhoFlags } from '#cli/connect/who.ts'
import { planIn, printPlan } from '#cli/plan/steps.ts'
import { parseJson } from '#cli/terminal/json-argument.ts'
import { type Listing, printPage, queryText } from '#cli/terminal/listing.ts'
import { EXIT, type Output, visible } from '#cli/terminal/output.ts'
import type { Verb } from '#cli/terminal/shell.ts'
import type { Json, TaskDetail, TaskSummary } from '#http/openapi/api.ts'
import type { Page } from '#http/server/query.ts'
import { TrihandError } from '#model/kernel/errors.ts'

export interface TasksListFlags extends WhoFlags {
  readonly all?: boolean
  readonly status?: string
  readonly type?: string
  readonly run?: string
  readonly order?: string
  readonly limit?: string
  readonly cursor?: string
}

export interface TaskFlags extends WhoFlags {
  readonly id: string
}

export interface DecideFlags extends TaskFlags {
  readonly action: string
  readonly reason?: string
  readonly fields?: string
  readonly items?: string
  readonly hash?: string
  readonly confirm?: string
  readonly acknowledge?: boolean
  /** As `tasks show` prints it. */
  readonly draftRevision?: string
  readonly key?: string
}

export interface ReassignFlags extends TaskFlags {
  readonly to: string
  readonly reason?: string
}

const listing = (command: string): Listing<TaskSummary> => ({
  row: (task) => [
    task.id,
    task.type,
    task.status,
    task.deadline === null ? '-' : `${task.is_overdue ? 'overdue ' : ''}${task.deadline}`,
    task.claimed_by ?? task.assignees.join(','),
    task.title,
  ],
  id: (task) => task.id,
  empty: 'No tasks.',
  command,
})

const listAs =
  (command: string): Verb<TasksListFlags> =>
  async (shell, flags) => {
    const { status, type, run, order, limit, cursor } = flags
    const all = flags.all === true ? 'true' : undefined
    const path = `/api/tasks${queryText({ status, type, run, order, limit, cursor, all })}`
    const page = await withApi(shell, flags, { need: 'look' }, (api) =>
      api.get<Page<TaskSummary>>(path, headersOf(flags)),
    )
    return printPage(shell.output, page, listing(command))
  }

export const listTasks = listAs('trihand tasks list')

/** A person's own tasks, the nearest deadline first. */
export const inbox: Verb<TasksListFlags> = async (shell, flags) => {
  requireWho(flags)
  return listAs('trihand inbox list')(shell, { order: 'deadline', ...flags })
}

export const pathOf = (id: string): string => `/api/tasks/${encodeURIComponent(id)}`

const label = (name: string, text: string): string => `${name.padEnd(10)}${visible(text)}`

const printEnd = (output: Output, { end, approved, rejected }: TaskDetail): void => {
  if (end === null) return
  const why = end.feedback === null ? '' : `: ${end.feedback}`
  output.line(label('end', `${end.decision} by ${end.decided_by ?? 'the system'} at ${end.decided_at}${why}`))
  if (approved.length > 0) output.line(label('approved', approved.join(', ')))
  if (rejected.length > 0) output.line(label('rejected', rejected.join(', ')))
}

const isMembers = (value: Json): value is { readonly [name: string]: Json } =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** One line for each member: the context must be readable before the decision. */
const contextLines = ({ context }: TaskDetail): readonly string[] => {
  if (context === null) return []
  if (!isMembers(context)) return [label('context', JSON.stringify(context))]
  return Object.entries(context).map(([name, value], i) =>
    label(i === 0 ? 'context' : '', `${name}: ${typeof value === 'string' ? value : JSON.stringify(value)}`),
  )
}

const printDrafts = (output: Output, { drafts, draft_revision, is_open }: TaskDetail): void => {
  if (!is_open || drafts.length === 0) return
  for (const { item, content } of drafts)
    output.line(label('your draft', `${item ?? 'the whole task'}: ${JSON.stringify(content)}`))
  output.line(label('drafts', `revision ${draft_revision}; a decision from the command line does not include them`))
}

/** A plan is printed step by step, other content as JSON. */
const printSection = (output: Output, { title, content }: TaskDetail['sections'][number]): void => {
  if (content === null) return
  const plan = planIn(content)
  if (plan === null) return output.line(label('section', `${title}: ${JSON.stringify(content)}`))
  output.line(label('section', `${title}: revision ${plan.hash}`))
  printPlan(output, plan)
}

const printActions = (output: Output, { actions }: TaskDetail): void => {
  output.line(label('actions', actions.map(({ name }) => name).join(', ')))
  for (const { name, warning } of actions) if (warning !== null) output.line(label('warning', `${name}: ${warning}`))
  const confirm = actions.find((action) => action.confirm !== null)?.confirm
  if (confirm != null) output.line(label('confirm', `type ${confirm}`))
}

/** Empty if a single vote decides. */
const voteLines = ({ quorum, votes, may_vote: may, is_open }: TaskDetail): readonly string[] => {
  if (!is_open || (quorum.approve <= 1 && quorum.reject <= 1)) return []
  const people = [...may.users.map((one) => `user:${one}`), ...may.groups.map((one) => `group:${one}`)]
  const except = may.groups.length === 0 || may.except.length === 0 ? '' : `, except ${may.except.join(', ')}`
  return [
    label('quorum', `${quorum.approve} to approve, ${quorum.reject} to reject`),
    ...(votes.length === 0 ? [] : [label('votes', votes.map(({ by, action }) => `${by}: ${action}`).join(', '))]),
    label('may vote', people.length === 0 ? 'after the revision' : `${people.join(', ')}${except}`),
  ]
}

export const printTask = (output: Output, task: TaskDetail): void => {
  if (output.isJson) return output.document(task)
  const { users, groups } = task.assignees
  output.line(visible(`${task.id}  ${task.type}  ${task.status}  ${task.title}`))
  if (task.instructions !== '') output.line(visible(task.instructions))
  output.line(label('asked', [...users.map((one) => `user:${one}`), ...groups.map((one) => `group:${one}`)].join(', ')))
  for (const line of voteLines(task)) output.line(line)
  if (task.deadline !== null) output.line(label('deadline', task.deadline))
  if (task.claimed_by !== null) output.line(label('claimed by', task.claimed_by))
  for (const line of contextLines(task)) output.line(line)
  for (const section of task.sections) {
    printSection(output, section)
    output.table(section.items.map(({ id, status, content }) => ['', id, status, JSON.stringify(content)]))
  }
  printEnd(output, task)
  printDrafts(output, task)
  if (task.cause !== null) output.line(label('cause', task.cause))
  if (task.is_open) printActions(output, task)
  if (task.is_open) output.line(label('hash', task.shown_hash))
}

export const showTask: Verb<TaskFlags> = async (shell, flags) => {
  const task = await withApi(shell, flags, { need: 'look' }, (api) =>
    api.get<TaskDetail>(pathOf(flags.id), headersOf(flags)),
  )
  printTask(shell.output, task)
  return EXIT.done
}

const act =
  <Flags extends TaskFlags>(
    verb: string,
    bodyOf: (flags: Flags) => object,
    more: (flags: Flags) => Headers = () => ({}),
  ) =>
  async (...[shell, flags]: Parameters<Verb<Flags>>): Promise<number> => {
    const headers = { ...requireWho(flags), ...more(flags) }
    const body = bodyOf(flags)
    const task = await withApi(shell, flags, { need: 'work' }, (api) =>
      api.post<TaskDetail>(`${pathOf(flags.id)}/${verb}`, body, headers),
    )
    printTask(shell.output, task)
    return EXIT.done
  }

const HANDED_ON: readonly string[] = ['reassign', 'escalate']

const revisionOf = (given: string | undefined): { readonly draft_revision?: number } => {
  if (given === undefined) return {}
  if (!/^\d+$/.test(given))
    throw new TrihandError(
      'CONFIG_INVALID',
      '--draft-revision must be a whole number, as `trihand tasks show` prints it',
    )
  return { draft_revision: Number(given) }
}

const decisionOf = (flags: DecideFlags): object => {
  const { action, reason, fields, items, hash, draftRevision, confirm, acknowledge } = flags
  if (hash === undefined && !HANDED_ON.includes(action))
    throw new TrihandError(
      'CONFIG_INVALID',
      'give --hash, as `trihand tasks show` prints it: a decision applies to exactly what was shown',
    )
  return {
    action,
    ...(reason !== undefined && { reason }),
    ...(fields !== undefined && { fields: parseJson(fields, '--fields') }),
    ...(items !== undefined && { items: parseJson(items, '--items') }),
    ...(hash !== undefined && { shown_hash: hash }),
    ...(confirm !== undefined && { confirm }),
    ...(acknowledge === true && { acknowledged: true }),
    ...revisionOf(draftRevision),
  }
}

export const decideTask = act<DecideFlags>('decision', decisionOf, ({ key }) =>
  key === undefined ? {} : { 'idempotency-key': key },
)
export const claimTask = act<TaskFlags>('claim', () => ({}))
export const unclaimTask = act<TaskFlags>('unclaim', () => ({}))
export const reassignTask = act<ReassignFlags>('reassign', ({ to, reason }) => ({
  to: to.split(','),
  ...(reason !== undefined && { reason }),
}))
