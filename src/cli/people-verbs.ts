/**
 * The commands for people: their inbox, their tasks, and their decisions.
 *
 * Owns their names and descriptions, as verbs.ts does for the others.
 */
import type { Command } from 'commander'
import { type Perform, withAnswer, withConfirmation, withDoor, withPage, withWho, withWork } from './flags.ts'

const filtered = (command: Command): Command =>
  withPage(withWho(withDoor(command)))
    .option('--all', "everybody's")
    .option('--status <status>', 'open, closed, or one word')
    .option('--type <type>', 'approval, input, review or decision')
    .option('--run <id>', 'of this run only')
    .option('--order <order>', 'newest, oldest or deadline')

/** The options of a decision on a task; at a terminal the person sees the task first and is asked to confirm. */
const worded = (command: Command): Command =>
  withWho(withWork(command))
    .option('--hash <hash>', 'of what was seen: then nobody is asked')
    .option('--draft-revision <n>', 'of your own drafts that were seen')
    .option('--reason <text>', 'why')
    .option('--fields <json>', 'what the task asks for')
    .option('--items <ids>', 'of a bundle: the word is about these, with commas')
    .option('--rest <word>', 'of a bundle: approve or reject the others')
    .option('--key <key>', 'the same key again decides nothing new')

const WORDS = {
  approve: 'approve a task, or items of it, after you have seen it',
  reject: 'reject it',
  respond: 'answer what it asks, with --fields or --reason',
  'request-edit': 'send it back for a revision, with --reason',
  escalate: 'hand it to the next level',
} as const

export const addInbox = (program: Command, perform: Perform): void => {
  const load = () => import('#cli/inbox/inbox.ts')
  const tasks = () => import('#cli/inbox/tasks.ts')
  const inbox = program.command('inbox').description('what waits for you, and your word: --as says who you are')
  filtered(inbox.command('list', { isDefault: true }))
    .description('what waits for you, the nearest deadline first')
    .action((flags) => perform(async () => (await tasks()).inbox, flags))
  withWho(withDoor(inbox.command('show <id>')))
    .description('one task, and the hash of what you see')
    .action((id, flags) => perform(async () => (await tasks()).showTask, { id, ...flags }))
  for (const [word, description] of Object.entries(WORDS))
    worded(inbox.command(`${word} <id>`))
      .description(description)
      .action((id, flags) => perform(async () => (await load()).giveWord(word.replace('-', '_')), { id, ...flags }))
  withWho(withWork(inbox.command('edit <id>')))
    .description('change items in your editor, see what differs, and approve them so')
    .option('--items <ids>', 'these, with commas; without it all')
    .option('--reason <text>', 'why')
    .action((id, flags) => perform(async () => (await load()).editTask, { id, ...flags }))
  withAnswer(inbox.command('resolve <verdict>'))
    .description('answer "did it happen?" for all steps of one cause: happened, run_again or abort')
    .requiredOption('--cause <text>', 'as `trihand inbox show` prints it: "worker eu-1"')
    .option('--step <name>', 'of these steps only')
    .action((verdict, flags) =>
      perform(async () => (await import('#cli/runs/uncertain.ts')).resolveMany, { verdict, ...flags }),
    )
  withWho(withWork(inbox.command('claim <id>')))
    .description('take a task of your group')
    .action((id, flags) => perform(async () => (await tasks()).claimTask, { id, ...flags }))
  withWho(withWork(inbox.command('reassign <id> <to>')))
    .description('hand it on to user:<id> or group:<name>, several with commas')
    .option('--reason <text>', 'why')
    .action((id, to, flags) => perform(async () => (await tasks()).reassignTask, { id, to, ...flags }))
}

export const addTasks = (program: Command, perform: Perform): void => {
  const load = () => import('#cli/inbox/tasks.ts')
  const tasks = program.command('tasks').description('what people are asked')
  filtered(tasks.command('list'))
    .description('tasks, newest first')
    .action((flags) => perform(async () => (await load()).listTasks, flags))
  withWho(withDoor(tasks.command('show <id>')))
    .description('one task: what it is about, what may be done, and the hash of what you see')
    .action((id, flags) => perform(async () => (await load()).showTask, { id, ...flags }))
  withConfirmation(withWho(withWork(tasks.command('decide <id> <action>'))))
    .description('approve, reject, edit, respond, request_edit, escalate, or an action of the task')
    .option('--hash <hash>', 'of what was shown')
    .option('--draft-revision <n>', 'of your own drafts that were shown')
    .option('--reason <text>', 'why')
    .option('--fields <json>', 'what the task asks for')
    .option('--items <json>', 'item by item: {"a": {"status": "rejected"}}')
    .option('--key <key>', 'the same key again decides nothing new')
    .action((id, action, flags) => perform(async () => (await load()).decideTask, { id, action, ...flags }))
  withWho(withWork(tasks.command('claim <id>')))
    .description('take a task of your group')
    .action((id, flags) => perform(async () => (await load()).claimTask, { id, ...flags }))
  withWho(withWork(tasks.command('unclaim <id>')))
    .description('give it back')
    .action((id, flags) => perform(async () => (await load()).unclaimTask, { id, ...flags }))
  withWho(withWork(tasks.command('reassign <id> <to>')))
    .description('hand it on to user:<id> or group:<name>, several with commas')
    .option('--reason <text>', 'why')
    .action((id, to, flags) => perform(async () => (await load()).reassignTask, { id, to, ...flags }))
}
