/**
 * The commands for people: their inbox, their tasks, and their decisions.
 *
 * Owns their names and descriptions, as verbs.ts does for the others.
 */
import type { Command } from 'commander'
import { type Perform, withAnswer, withConfirmation, withConnection, withPage, withWho, withWork } from './flags.ts'

const filtered = (command: Command): Command =>
  withPage(withWho(withConnection(command)))
    .option('--all', 'tasks of all people')
    .option('--status <status>', 'open, closed, or one status')
    .option('--type <type>', 'approval, input, review or decision')
    .option('--run <id>', 'only tasks of this run')
    .option('--order <order>', 'sort by newest, oldest or deadline')

/** The options of a decision on a task; at a terminal the person sees the task first and is asked to confirm. */
const worded = (command: Command): Command =>
  withWho(withWork(command))
    .option('--hash <hash>', 'hash of what you have seen; skips the confirmation')
    .option('--draft-revision <n>', 'revision of your drafts that you have seen')
    .option('--reason <text>', 'why')
    .option('--fields <json>', 'values of the requested fields')
    .option('--items <ids>', 'comma-separated item ids that this decision applies to')
    .option('--rest <word>', 'approve or reject all other items')
    .option('--key <key>', 'idempotency key; a second call with the same key changes nothing')

const WORDS = {
  approve: 'show a task, then approve it or some of its items',
  reject: 'show a task, then reject it or some of its items',
  respond: 'answer the question of a task, with --fields or --reason',
  'request-edit': 'return a task for revision, with --reason',
  escalate: 'escalate a task to the next level',
} as const

export const addInbox = (program: Command, perform: Perform): void => {
  const load = () => import('#cli/inbox/inbox.ts')
  const tasks = () => import('#cli/inbox/tasks.ts')
  const inbox = program.command('inbox').description('list and decide the tasks that wait for you; --as names you')
  filtered(inbox.command('list', { isDefault: true }))
    .description('list the tasks that wait for you, nearest deadline first')
    .action((flags) => perform(async () => (await tasks()).inbox, flags))
  withWho(withConnection(inbox.command('show <id>')))
    .description('show one task, and the hash to decide it with')
    .action((id, flags) => perform(async () => (await tasks()).showTask, { id, ...flags }))
  for (const [word, description] of Object.entries(WORDS))
    worded(inbox.command(`${word} <id>`))
      .description(description)
      .action((id, flags) => perform(async () => (await load()).decideVerb(word.replace('-', '_')), { id, ...flags }))
  withWho(withWork(inbox.command('edit <id>')))
    .description('edit items in your editor, review the changes, and approve them')
    .option('--items <ids>', 'comma-separated item ids (default: all)')
    .option('--reason <text>', 'why')
    .action((id, flags) => perform(async () => (await load()).editTask, { id, ...flags }))
  withAnswer(inbox.command('resolve <verdict>'))
    .description('answer whether uncertain steps happened, for all steps of one cause: happened, run_again or abort')
    .requiredOption('--cause <text>', 'the cause that `trihand inbox show` prints, like "worker eu-1"')
    .option('--step <name>', 'only steps with this name')
    .action((verdict, flags) =>
      perform(async () => (await import('#cli/runs/uncertain.ts')).resolveMany, { verdict, ...flags }),
    )
  withWho(withWork(inbox.command('claim <id>')))
    .description('claim a task of your group')
    .action((id, flags) => perform(async () => (await tasks()).claimTask, { id, ...flags }))
  withWho(withWork(inbox.command('reassign <id> <to>')))
    .description('reassign a task to user:<id> or group:<name>, several comma-separated')
    .option('--reason <text>', 'why')
    .action((id, to, flags) => perform(async () => (await tasks()).reassignTask, { id, to, ...flags }))
}

export const addTasks = (program: Command, perform: Perform): void => {
  const load = () => import('#cli/inbox/tasks.ts')
  const tasks = program.command('tasks').description('list, show and decide tasks')
  filtered(tasks.command('list'))
    .description('list tasks, newest first')
    .action((flags) => perform(async () => (await load()).listTasks, flags))
  withWho(withConnection(tasks.command('show <id>')))
    .description('show one task: its content, its actions, and the hash to decide it with')
    .action((id, flags) => perform(async () => (await load()).showTask, { id, ...flags }))
  withConfirmation(withWho(withWork(tasks.command('decide <id> <action>'))))
    .description('decide a task: approve, reject, edit, respond, request_edit, escalate, or an action of the task')
    .option('--hash <hash>', 'hash of what you have seen')
    .option('--draft-revision <n>', 'revision of your drafts that you have seen')
    .option('--reason <text>', 'why')
    .option('--fields <json>', 'values of the requested fields')
    .option('--items <json>', 'a decision for each item: {"a": {"status": "rejected"}}')
    .option('--key <key>', 'idempotency key; a second call with the same key changes nothing')
    .action((id, action, flags) => perform(async () => (await load()).decideTask, { id, action, ...flags }))
  withWho(withWork(tasks.command('claim <id>')))
    .description('claim a task of your group')
    .action((id, flags) => perform(async () => (await load()).claimTask, { id, ...flags }))
  withWho(withWork(tasks.command('unclaim <id>')))
    .description('release a task that you claimed')
    .action((id, flags) => perform(async () => (await load()).unclaimTask, { id, ...flags }))
  withWho(withWork(tasks.command('reassign <id> <to>')))
    .description('reassign a task to user:<id> or group:<name>, several comma-separated')
    .option('--reason <text>', 'why')
    .action((id, to, flags) => perform(async () => (await load()).reassignTask, { id, to, ...flags }))
}
