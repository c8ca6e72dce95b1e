/**
 * The table of commands and their flags.
 *
 * Owns their names and descriptions. Each command is a file of its own, loaded when it is called.
 */
import { Command } from 'commander'
import type { Stream } from '#cli/terminal/output.ts'
import {
  number,
  type Perform,
  port,
  wait,
  withAnswer,
  withDoor,
  withOutput,
  withPage,
  withWho,
  withWork,
} from './flags.ts'
import { addFleet, addWorkers } from './fleet-verbs.ts'
import { addInbox, addTasks } from './people-verbs.ts'
import { VERSION } from './version.ts'

/** The streams for the help text. */
interface Streams {
  readonly stdout: Stream
  readonly stderr: Stream
}

const addServing = (program: Command, perform: Perform): void => {
  withOutput(program.command('dev [path]'))
    .description('run a system from its source: a folder with manifest.yaml or system.ts, or a file')
    .option('--port <n>', 'listen on this port (PORT)', port)
    .option('--database <path|url>', 'the ledger (DATABASE_URL; default .trihand/trihand.db)')
    .option('--no-work', 'take events and answer questions, leave the work to workers')
    .action((path, flags) => perform(async () => (await import('#cli/serving/dev.ts')).dev, { path, ...flags }))
  withOutput(program.command('demo'))
    .description('run the built-in example')
    .option('--fresh', 'forget what it did before')
    .option('--port <n>', 'listen on this port (PORT)', port)
    .action((flags) => perform(async () => (await import('./demo.ts')).demo, flags))
}

const addBeginning = (program: Command, perform: Perform): void => {
  withOutput(program.command('init [folder]'))
    .description('a system to begin with: campaign, chat, hello, hello-contacts or empty')
    .option('--template <name>', 'which one (campaign)')
    .option('--force', 'add what is missing to a folder that is not empty; nothing is overwritten')
    .action((folder, flags) => perform(async () => (await import('./init.ts')).init, { folder, ...flags }))
  withOutput(program.command('doctor [path]'))
    .description('what this machine and this folder lack, if anything')
    .action((path, flags) => perform(async () => (await import('#cli/serving/doctor.ts')).doctor, { path, ...flags }))
}

const addMcp = (program: Command, perform: Perform): void => {
  withWork(program.command('mcp'))
    .description('the system as an MCP server on stdin and stdout; no tool of it decides a task')
    .action((flags) => perform(async () => (await import('#cli/serving/mcp.ts')).mcp, flags))
}

const addEvents = (program: Command, perform: Perform): void => {
  withWho(withWork(program.command('send <event> [data]')))
    .description('send an event; data is JSON, @file, or - for stdin')
    .option('--id <id>', 'its id: the same one again is a repeat')
    .option('--source <source>', 'where it comes from')
    .option('--subject <subject>', 'what it is about')
    .option('--delay <duration>', 'send it so long from now; events cancel takes it back')
    .option('--wait <duration>', 'wait for the end of the runs it starts', wait)
    .option('--quiet', 'ids of runs only')
    .action((type, data, flags) =>
      perform(async () => (await import('#cli/events/send.ts')).send, { type, data, ...flags }),
    )
  const events = program.command('events').description('what came in')
  withPage(withDoor(events.command('list')))
    .description('events, newest first')
    .option('--type <type>', 'of this type only')
    .option('--delayed', 'those that are to be sent later, and when')
    .action((flags) => perform(async () => (await import('#cli/events/list.ts')).listEvents, flags))
  withDoor(events.command('show <number>'))
    .description('one event, whole, by the number that `events list` shows')
    .action((number, flags) =>
      perform(async () => (await import('#cli/events/show.ts')).showEvent, { number, ...flags }),
    )
  withDoor(events.command('tail'))
    .description('events of a server as they come, until Ctrl+C')
    .option('--type <type>', 'of this type only')
    .option('--after <number>', 'begin after this event, not now', number)
    .option('--count <n>', 'end after so many', number)
    .option('--wait <duration>', 'end after this time', wait)
    .action((flags) => perform(async () => (await import('#cli/events/tail.ts')).tailEvents, flags))
  withWork(events.command('cancel <id>'))
    .description('take back an event that is to be sent later; the id is in `events list --delayed`')
    .action((id, flags) => perform(async () => (await import('#cli/events/delayed.ts')).cancelEvent, { id, ...flags }))
  withWho(withWork(events.command('replay <number>')))
    .description('send the same event once more, under a new id')
    .option('--wait <duration>', 'wait for the end of the runs it starts', wait)
    .option('--quiet', 'ids of runs only')
    .action((number, flags) =>
      perform(async () => (await import('#cli/events/show.ts')).replayEvent, { number, ...flags }),
    )
}

const addTriggers = (program: Command, perform: Perform): void => {
  withWork(program.command('start <function> [input]').alias('run'))
    .description('start a function by hand; the input is JSON, @file, or - for stdin')
    .option('--wait <duration>', 'wait for its end', wait)
    .option('--callback <url>', 'tell this address of its end, by a signed webhook')
    .option('--session <id>', 'the session that it works in')
    .option('--quiet', 'the id only')
    .action((name, input, flags) =>
      perform(async () => (await import('#cli/serving/start.ts')).start, { name, input, ...flags }),
    )
  const triggers = program.command('triggers').description('what starts what')
  withWork(triggers.command('list'))
    .description('every trigger of the system')
    .option('--quiet', 'names only')
    .action((flags) => perform(async () => (await import('#cli/events/triggers.ts')).listTriggers, flags))
  withWork(triggers.command('test <event|webhook> [data]'))
    .description('say what an event would start, and send nothing; a webhook takes the body of a delivery')
    .option('--source <source>', 'where the event comes from')
    .action((name, data, flags) =>
      perform(async () => (await import('#cli/events/triggers.ts')).testTrigger, { name, data, ...flags }),
    )
  withWork(triggers.command('replay <webhook> <delivery>'))
    .description('take a delivery again that made no event')
    .action((name, delivery, flags) =>
      perform(async () => (await import('#cli/events/triggers.ts')).replayDelivery, { name, delivery, ...flags }),
    )
  withOutput(triggers.command('install [path]'))
    .description('watch the tables of your own database that functions of the system name')
    .option('--table <name>', 'this table only')
    .action((path, flags) =>
      perform(async () => (await import('#cli/events/triggers.ts')).installTables, { path, ...flags }),
    )
  withOutput(triggers.command('remove [path]'))
    .description('leave your own database as it was; changes that were not told yet are forgotten')
    .option('--table <name>', 'this table only')
    .action((path, flags) =>
      perform(async () => (await import('#cli/events/triggers.ts')).removeTables, { path, ...flags }),
    )
}

const addRuns = (program: Command, perform: Perform): void => {
  const runs = program.command('runs').description('what is at work, waits or has ended')
  withPage(withDoor(runs.command('list')))
    .description('runs, newest first')
    .option('--status <status>', 'with this status only')
    .option('--handler <name>', 'of this function only')
    .option('--session <id>', 'of this session only')
    .action((flags) => perform(async () => (await import('#cli/runs/list.ts')).listRuns, flags))
  withDoor(runs.command('show <id>'))
    .description('one run: what it waits for and what happened; the last 6 digits of the id do')
    .action((id, flags) => perform(async () => (await import('#cli/runs/show.ts')).showRun, { id, ...flags }))
  withDoor(runs.command('why <id>'))
    .description('why a run does not go on, in one sentence')
    .action((id, flags) => perform(async () => (await import('#cli/runs/why.ts')).explainRun, { id, ...flags }))
  withDoor(runs.command('watch <id>'))
    .description('what happens to a run, until its end; Ctrl+C leaves it as it is')
    .option('--wait <duration>', 'end after this time', wait)
    .action((id, flags) => perform(async () => (await import('#cli/runs/watch.ts')).watchRun, { id, ...flags }))
  const load = () => import('#cli/runs/bulk.ts')
  const oneOrMany = (verb: string, description: string): Command =>
    withWork(runs.command(`${verb} [id]`))
      .description(description)
      .option('--where <terms>', 'many at once: status=waiting,handler=greet,session=<id>')
      .option('--yes', 'do not ask before many')
  oneOrMany('cancel', 'end a run')
    .option('--reason <text>', 'why')
    .action((id, flags) => perform(async () => (await load()).cancelRuns, { id, ...flags }))
  oneOrMany('pause', 'begin no step of a run until it is resumed; what is under way may finish')
    .option('--reason <text>', 'why')
    .action((id, flags) => perform(async () => (await load()).pauseRuns, { id, ...flags }))
  oneOrMany('resume', 'let a paused run go on')
    .option('--wait <duration>', 'wait for its end', wait)
    .action((id, flags) => perform(async () => (await load()).resumeRuns, { id, ...flags }))
  oneOrMany('retry', 'begin a failed run again; finished steps stay finished')
    .option('--wait <duration>', 'wait for its end', wait)
    .action((id, flags) => perform(async () => (await load()).retryRuns, { id, ...flags }))
  withWork(runs.command('rerun <id>'))
    .description('run it once more as a new run; what was finished before a step stands, the rest is done again')
    .option('--from <step>', 'the first step that is done again; without it everything is')
    .option('--input <json|@file|->', 'another input')
    .option(
      '--reuse-decisions',
      'what people answered counts again where they were asked before --from and would be asked the same',
    )
    .option('--wait <duration>', 'wait for its end', wait)
    .action((id, flags) => perform(async () => (await import('#cli/runs/rerun.ts')).rerunRun, { id, ...flags }))
  withAnswer(runs.command('resolve <id> <step> <verdict>'))
    .description('answer the task that asks whether a step happened: happened, run_again or abort')
    .option('--hash <hash>', 'of what was seen: then you are not asked')
    .option('--wait <duration>', 'wait for the end of the run', wait)
    .action((id, step, verdict, flags) =>
      perform(async () => (await import('#cli/runs/uncertain.ts')).resolveStep, { id, step, verdict, ...flags }),
    )
}

const addSchedules = (program: Command, perform: Perform): void => {
  const load = () => import('#cli/events/schedules.ts')
  const schedules = program.command('schedules').description('what runs when')
  withWork(schedules.command('list'))
    .description('schedules: timing, status, next slot, what they start')
    .option('--quiet', 'names only')
    .action((flags) => perform(async () => (await load()).listSchedules, flags))
  withWork(schedules.command('show <name>'))
    .description('one schedule and its last run')
    .action((name, flags) => perform(async () => (await load()).showSchedule, { name, ...flags }))
  withWork(schedules.command('pause <name>'))
    .description('start nothing until it is resumed')
    .option('--reason <text>', 'why')
    .action((name, flags) => perform(async () => (await load()).pauseSchedule, { name, ...flags }))
  withWork(schedules.command('resume <name>'))
    .description('go on with the next slot')
    .action((name, flags) => perform(async () => (await load()).resumeSchedule, { name, ...flags }))
  withWork(schedules.command('run <name>'))
    .description('one run now, whatever the slots say')
    .action((name, flags) => perform(async () => (await load()).runSchedule, { name, ...flags }))
  withWork(schedules.command('backfill <name> <from> <to>'))
    .description('a run for each past slot of a span: 2026-01-31T08:00:00Z to another instant')
    .option('--dry-run', 'only say how many there would be')
    .action((name, from, to, flags) =>
      perform(async () => (await load()).backfillSchedule, { name, from, to, ...flags }),
    )
  const handlers = program.command('handlers').description('functions with flow control')
  withWork(handlers.command('pause <name>'))
    .description('hold or suppress what comes, as its whilePaused says')
    .action((name, flags) => perform(async () => (await load()).pauseHandler, { name, ...flags }))
  withWork(handlers.command('resume <name>'))
    .description('go on, with what was held first')
    .action((name, flags) => perform(async () => (await load()).resumeHandler, { name, ...flags }))
}

const addPlan = (program: Command, perform: Perform): void => {
  withWho(withWork(program.command('plan <plan>')))
    .description('write a plan down, as text, a file or a known sentence, and see its steps and errors by line')
    .option('--goal <text>', 'what it is for')
    .option('--approve <hash>', 'approve exactly the plan with this hash; --as says who does')
    .option('--run', 'and run it')
    .option('--input <json>', 'what it works on')
    .option('--wait <duration>', 'wait for its end', wait)
    .action((plan, flags) => perform(async () => (await import('#cli/plan/plan.ts')).plan, { plan, ...flags }))
}

const addTokens = (program: Command, perform: Perform): void => {
  const load = () => import('#cli/inbox/tokens.ts')
  const token = program.command('token').description('who may come in over HTTP')
  withDoor(token.command('create <name>'))
    .description('make a token for a person, a service or an agent; it is shown once')
    .requiredOption('--roles <names>', 'viewer, decider, operator, admin: some of them, with commas')
    .option('--kind <kind>', 'user, service or agent', 'user')
    .option('--groups <names>', 'groups that they are in, with commas')
    .option('--tenant <name>', "another than one's own")
    .option('--expires <duration>', 'how long it counts; 90d if not said')
    .action((name, flags) => perform(async () => (await load()).createToken, { name, ...flags }))
  withDoor(token.command('list'))
    .description('tokens, newest first')
    .option('--quiet', 'ids only')
    .action((flags) => perform(async () => (await load()).listTokens, flags))
  withDoor(token.command('revoke <id>'))
    .description('end a token')
    .action((id, flags) => perform(async () => (await load()).revokeToken, { id, ...flags }))
}

const addLedgerViews = (program: Command, perform: Perform): void => {
  withDoor(program.command('costs'))
    .description('what models were asked, and what it cost')
    .option('--by <day,agent,model>', 'one row for each')
    .option('--from <day>', 'the first day, 2026-11-01')
    .option('--to <day>', 'the last day')
    .action((flags) => perform(async () => (await import('#cli/runs/costs.ts')).costs, flags))
  const sessions = program.command('sessions').description('what is remembered together')
  withPage(withDoor(sessions.command('list')))
    .description('sessions, newest first')
    .action((flags) => perform(async () => (await import('#cli/runs/sessions.ts')).listSessions, flags))
  withDoor(sessions.command('show <id>'))
    .description('one session: its memory and its checkpoints')
    .action((id, flags) => perform(async () => (await import('#cli/runs/sessions.ts')).showSession, { id, ...flags }))
}

const addManifest = (program: Command, perform: Perform): void => {
  const load = () => import('#cli/manifest/manifest.ts')
  const manifest = program.command('manifest').description('a manifest before it runs; executes nothing of its folder')
  const verb = (name: string): Command =>
    withOutput(manifest.command(`${name} [path]`)).option('--strict', 'warnings are errors')
  verb('validate')
    .description('everything that is wrong with it or worth knowing, with line and column')
    .action((path, flags) => perform(async () => (await load()).validateManifest, { path, ...flags }))
  verb('graph')
    .description('events, hands, schedules, webhooks and states, as Mermaid or JSON')
    .action((path, flags) => perform(async () => (await load()).drawManifest, { path, ...flags }))
  verb('types')
    .description('TypeScript declarations of its events and handlers')
    .action((path, flags) => perform(async () => (await load()).typeManifest, { path, ...flags }))
  withOutput(manifest.command('stubs [path]'))
    .description(
      'write files that are missing: code of functions, prompts of agents, schemas; never over one that is there',
    )
    .option('--dry-run', 'only list them')
    .action((path, flags) =>
      perform(async () => (await import('#cli/manifest/stubs.ts')).writeStubs, { path, ...flags }),
    )
  withOutput(manifest.command('diff <old> <new>'))
    .description('what differs between the long forms of two manifests; ends with 1 if anything does')
    .action((old, fresh, flags) => perform(async () => (await load()).diffManifests, { old, fresh, ...flags }))
  verb('print')
    .description('the long form: every short form written out')
    .action((path, flags) => perform(async () => (await load()).printLongForm, { path, ...flags }))
  withWork(manifest.command('versions'))
    .description('definitions that this ledger has met, and how many open runs follow each')
    .option('--quiet', 'hashes only')
    .action((flags) => perform(async () => (await import('#cli/manifest/versions.ts')).listVersions, flags))
}

const addCheck = (program: Command, perform: Perform): void => {
  withOutput(program.command('check [path]'))
    .description('load a system as a deploy would; with --against, hold it against the runs that have not ended')
    .option('--against <ledger|url>', 'a SQLite file, a Postgres URL, or a server (TRIHAND_TOKEN)')
    .action((path, flags) => perform(async () => (await import('#cli/manifest/check.ts')).check, { path, ...flags }))
}

const addSimulate = (program: Command, perform: Perform): void => {
  withOutput(program.command('simulate [path]'))
    .description(
      'rehearse a manifest: made-up data, stand-ins for every hand, a year in a moment; says what was not reached',
    )
    .option('--event <type>', 'begin with this event only')
    .option('--data <json>', 'its data; else data that fits')
    .option('--seed <n>', 'the same seed gives the same report (1)')
    .option('--paths <which>', 'which of several paths are taken: first, random or all (all)')
    .option('--humans <how>', 'what people decide: approve, reject, random or all (all)')
    .option('--max-runs <n>', 'stop sending after so many runs (500)')
    .action((path, flags) =>
      perform(async () => (await import('#cli/manifest/simulate.ts')).simulate, { path, ...flags }),
    )
}

const addVerify = (program: Command, perform: Perform): void => {
  withOutput(program.command('backup <file>'))
    .description('one moment of a SQLite ledger as a file, also beside a running server')
    .option('--database <path>', 'this ledger (DATABASE_URL)')
    .action((file, flags) => perform(async () => (await import('#cli/serving/backup.ts')).backup, { file, ...flags }))
  withOutput(program.command('rekey'))
    .description(
      'change all payloads of an encrypted ledger to the first key of TRIHAND_LEDGER_KEY; stop every process first',
    )
    .option('--database <path or url>', 'this ledger (DATABASE_URL)')
    .option('--schema <name>', 'the Postgres schema that holds it')
    .action((flags) => perform(async () => (await import('#cli/serving/rekey.ts')).rekey, flags))
  withOutput(program.command('verify'))
    .description('check every invariant of a ledger, also beside a running server')
    .option('--file <path>', 'a SQLite ledger')
    .option('--url <url>', 'a Postgres ledger')
    .option('--schema <name>', 'the Postgres schema that holds it')
    .option('--anchor <file>', 'compare with the signed heads in this file, then keep the present ones in it')
    .action((flags) => perform(async () => (await import('./verify.ts')).verify, flags))
}

export const createProgram = (perform: Perform, { stdout, stderr }: Streams): Command => {
  const program = new Command('trihand')
    .description('Durable execution with three hands: agents, humans and workflow functions.')
    .version(VERSION)
    .exitOverride()
    // Usage errors are printed by main.ts, as all other errors are.
    .configureOutput({
      writeOut: (text) => stdout.write(text),
      writeErr: (text) => stderr.write(text),
      outputError: () => undefined,
    })
  addBeginning(program, perform)
  addServing(program, perform)
  addEvents(program, perform)
  addTriggers(program, perform)
  addRuns(program, perform)
  addWorkers(program, perform)
  addFleet(program, perform)
  addSchedules(program, perform)
  addInbox(program, perform)
  addTasks(program, perform)
  addPlan(program, perform)
  addTokens(program, perform)
  addLedgerViews(program, perform)
  addManifest(program, perform)
  addCheck(program, perform)
  addSimulate(program, perform)
  addVerify(program, perform)
  addMcp(program, perform)
  return program
}
