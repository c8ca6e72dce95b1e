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
  withConnection,
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
    .option('--database <path|url>', 'path or URL of the ledger (DATABASE_URL; default .trihand/trihand.db)')
    .option('--no-work', 'accept events and serve the page, but run nothing: workers run the steps')
    .action((path, flags) => perform(async () => (await import('#cli/serving/dev.ts')).dev, { path, ...flags }))
  withOutput(program.command('demo'))
    .description('run the built-in example')
    .option('--fresh', 'start with an empty ledger')
    .option('--port <n>', 'listen on this port (PORT)', port)
    .action((flags) => perform(async () => (await import('./demo.ts')).demo, flags))
}

const addBeginning = (program: Command, perform: Perform): void => {
  withOutput(program.command('init [folder]'))
    .description('create a system from a template: campaign, chat, hello, hello-contacts or empty')
    .option('--template <name>', 'the template to use (campaign)')
    .option('--force', 'add missing files to a folder that is not empty; overwrites nothing')
    .action((folder, flags) => perform(async () => (await import('./init.ts')).init, { folder, ...flags }))
  withOutput(program.command('doctor [path]'))
    .description('check this machine and this folder, and say how to fix what is missing')
    .action((path, flags) => perform(async () => (await import('#cli/serving/doctor.ts')).doctor, { path, ...flags }))
}

const addMcp = (program: Command, perform: Perform): void => {
  withWork(program.command('mcp'))
    .description('serve the system over MCP on stdin and stdout; its tools cannot decide tasks')
    .action((flags) => perform(async () => (await import('#cli/serving/mcp.ts')).mcp, flags))
}

const addEvents = (program: Command, perform: Perform): void => {
  withWho(withWork(program.command('send <event> [data]')))
    .description('send an event; data is JSON, @file, or - for stdin')
    .option('--id <id>', 'event id; a second event with the same id is a duplicate')
    .option('--source <source>', 'source of the event')
    .option('--subject <subject>', 'subject of the event')
    .option('--delay <duration>', 'send it after this time, like 2h; `events cancel` cancels it')
    .option('--wait <duration>', 'wait until the runs that it starts have ended', wait)
    .option('--quiet', 'print run ids only')
    .action((type, data, flags) =>
      perform(async () => (await import('#cli/events/send.ts')).send, { type, data, ...flags }),
    )
  const events = program.command('events').description('list, follow, replay and cancel events')
  withPage(withConnection(events.command('list')))
    .description('list events, newest first')
    .option('--type <type>', 'only events of this type')
    .option('--delayed', 'list scheduled events and their times instead')
    .action((flags) => perform(async () => (await import('#cli/events/list.ts')).listEvents, flags))
  withConnection(events.command('show <number>'))
    .description('show one event in full; the number is the first column of `events list`')
    .action((number, flags) =>
      perform(async () => (await import('#cli/events/show.ts')).showEvent, { number, ...flags }),
    )
  withConnection(events.command('tail'))
    .description('print events of a server as they arrive, until Ctrl+C')
    .option('--type <type>', 'only events of this type')
    .option('--after <number>', 'start after the event with this number instead of now', number)
    .option('--count <n>', 'stop after this many events', number)
    .option('--wait <duration>', 'stop after this time', wait)
    .action((flags) => perform(async () => (await import('#cli/events/tail.ts')).tailEvents, flags))
  withWork(events.command('cancel <id>'))
    .description('cancel a scheduled event; `events list --delayed` shows its id')
    .action((id, flags) => perform(async () => (await import('#cli/events/delayed.ts')).cancelEvent, { id, ...flags }))
  withWho(withWork(events.command('replay <number>')))
    .description('send the same event again under a new id')
    .option('--wait <duration>', 'wait until the runs that it starts have ended', wait)
    .option('--quiet', 'print run ids only')
    .action((number, flags) =>
      perform(async () => (await import('#cli/events/show.ts')).replayEvent, { number, ...flags }),
    )
}

const addTriggers = (program: Command, perform: Perform): void => {
  withWork(program.command('start <function> [input]').alias('run'))
    .description('start a function directly; the input is JSON, @file, or - for stdin')
    .option('--wait <duration>', 'wait until it has ended', wait)
    .option('--callback <url>', 'send a signed webhook to this URL when the run ends')
    .option('--session <id>', 'session of the run')
    .option('--quiet', 'print the run id only')
    .action((name, input, flags) =>
      perform(async () => (await import('#cli/serving/start.ts')).start, { name, input, ...flags }),
    )
  const triggers = program.command('triggers').description('list, test and install triggers')
  withWork(triggers.command('list'))
    .description('list all triggers of the system')
    .option('--quiet', 'print names only')
    .action((flags) => perform(async () => (await import('#cli/events/triggers.ts')).listTriggers, flags))
  withWork(triggers.command('test <event|webhook> [data]'))
    .description('show what an event would start, without sending it; for a webhook, data is the body of a delivery')
    .option('--source <source>', 'source of the event')
    .action((name, data, flags) =>
      perform(async () => (await import('#cli/events/triggers.ts')).testTrigger, { name, data, ...flags }),
    )
  withWork(triggers.command('replay <webhook> <delivery>'))
    .description('process a webhook delivery again that produced no event')
    .action((name, delivery, flags) =>
      perform(async () => (await import('#cli/events/triggers.ts')).replayDelivery, { name, delivery, ...flags }),
    )
  withOutput(triggers.command('install [path]'))
    .description('install change triggers on the tables of your database that the system watches')
    .option('--table <name>', 'only this table')
    .action((path, flags) =>
      perform(async () => (await import('#cli/events/triggers.ts')).installTables, { path, ...flags }),
    )
  withOutput(triggers.command('remove [path]'))
    .description('remove the change triggers from your database; pending changes are dropped')
    .option('--table <name>', 'only this table')
    .action((path, flags) =>
      perform(async () => (await import('#cli/events/triggers.ts')).removeTables, { path, ...flags }),
    )
}

const addRuns = (program: Command, perform: Perform): void => {
  const runs = program.command('runs').description('list, inspect and control runs')
  withPage(withConnection(runs.command('list')))
    .description('list runs, newest first')
    .option('--status <status>', 'only runs with this status')
    .option('--handler <name>', 'only runs of this function')
    .option('--session <id>', 'only runs of this session')
    .action((flags) => perform(async () => (await import('#cli/runs/list.ts')).listRuns, flags))
  withConnection(runs.command('show <id>'))
    .description('show one run: what it waits for, and its history; the last 6 digits of the id are enough')
    .action((id, flags) => perform(async () => (await import('#cli/runs/show.ts')).showRun, { id, ...flags }))
  withConnection(runs.command('why <id>'))
    .description('explain in one sentence why a run does not continue')
    .action((id, flags) => perform(async () => (await import('#cli/runs/why.ts')).explainRun, { id, ...flags }))
  withConnection(runs.command('watch <id>'))
    .description('follow a run until it ends; Ctrl+C stops the display, not the run')
    .option('--wait <duration>', 'stop after this time', wait)
    .action((id, flags) => perform(async () => (await import('#cli/runs/watch.ts')).watchRun, { id, ...flags }))
  const load = () => import('#cli/runs/bulk.ts')
  const oneOrMany = (verb: string, description: string): Command =>
    withWork(runs.command(`${verb} [id]`))
      .description(description)
      .option('--where <terms>', 'select many runs: status=waiting,handler=greet,session=<id>')
      .option('--yes', 'skip the confirmation for many runs')
  oneOrMany('cancel', 'cancel a run')
    .option('--reason <text>', 'why')
    .action((id, flags) => perform(async () => (await load()).cancelRuns, { id, ...flags }))
  oneOrMany('pause', 'pause a run: no new step starts until it is resumed; running steps finish')
    .option('--reason <text>', 'why')
    .action((id, flags) => perform(async () => (await load()).pauseRuns, { id, ...flags }))
  oneOrMany('resume', 'continue a paused run')
    .option('--wait <duration>', 'wait until it has ended', wait)
    .action((id, flags) => perform(async () => (await load()).resumeRuns, { id, ...flags }))
  oneOrMany('retry', 'retry a failed run; completed steps are kept')
    .option('--wait <duration>', 'wait until it has ended', wait)
    .action((id, flags) => perform(async () => (await load()).retryRuns, { id, ...flags }))
  withWork(runs.command('rerun <id>'))
    .description('run it again as a new run; steps before --from keep their results, later steps run again')
    .option('--from <step>', 'first step to run again (default: the first step of the run)')
    .option('--input <json|@file|->', 'use this input instead')
    .option('--reuse-decisions', 'reuse decisions that people made before --from, if the question is the same')
    .option('--wait <duration>', 'wait until it has ended', wait)
    .action((id, flags) => perform(async () => (await import('#cli/runs/rerun.ts')).rerunRun, { id, ...flags }))
  withAnswer(runs.command('resolve <id> <step> <verdict>'))
    .description('answer whether an uncertain step happened: happened, run_again or abort')
    .option('--hash <hash>', 'hash of what you have seen; skips the confirmation')
    .option('--wait <duration>', 'wait until the run has ended', wait)
    .action((id, step, verdict, flags) =>
      perform(async () => (await import('#cli/runs/uncertain.ts')).resolveStep, { id, step, verdict, ...flags }),
    )
}

const addSchedules = (program: Command, perform: Perform): void => {
  const load = () => import('#cli/events/schedules.ts')
  const schedules = program.command('schedules').description('list and control schedules')
  withWork(schedules.command('list'))
    .description('list schedules: timing, status, next slot, target')
    .option('--quiet', 'print names only')
    .action((flags) => perform(async () => (await load()).listSchedules, flags))
  withWork(schedules.command('show <name>'))
    .description('show one schedule and its last run')
    .action((name, flags) => perform(async () => (await load()).showSchedule, { name, ...flags }))
  withWork(schedules.command('pause <name>'))
    .description('pause a schedule: it starts no run until it is resumed')
    .option('--reason <text>', 'why')
    .action((name, flags) => perform(async () => (await load()).pauseSchedule, { name, ...flags }))
  withWork(schedules.command('resume <name>'))
    .description('resume a schedule with its next slot')
    .action((name, flags) => perform(async () => (await load()).resumeSchedule, { name, ...flags }))
  withWork(schedules.command('run <name>'))
    .description('start one run now, outside the schedule')
    .action((name, flags) => perform(async () => (await load()).runSchedule, { name, ...flags }))
  withWork(schedules.command('backfill <name> <from> <to>'))
    .description('start one run for each past slot between two instants, like 2026-01-31T08:00:00Z')
    .option('--dry-run', 'only print how many runs it would start')
    .action((name, from, to, flags) =>
      perform(async () => (await load()).backfillSchedule, { name, from, to, ...flags }),
    )
  const handlers = program.command('handlers').description('pause and resume functions')
  withWork(handlers.command('pause <name>'))
    .description('pause a function: new events are held or suppressed, as its whilePaused says')
    .action((name, flags) => perform(async () => (await load()).pauseHandler, { name, ...flags }))
  withWork(handlers.command('resume <name>'))
    .description('resume a function; held events are processed first')
    .action((name, flags) => perform(async () => (await load()).resumeHandler, { name, ...flags }))
}

const addPlan = (program: Command, perform: Perform): void => {
  withWho(withWork(program.command('plan <plan>')))
    .description('create a plan from text, a file or a known sentence; prints its steps, and errors by line')
    .option('--goal <text>', 'goal of the plan')
    .option('--approve <hash>', 'approve exactly the plan with this hash; --as names the approver')
    .option('--run', 'run the approved plan')
    .option('--input <json>', 'input of the plan')
    .option('--wait <duration>', 'wait until it has ended', wait)
    .action((plan, flags) => perform(async () => (await import('#cli/plan/plan.ts')).plan, { plan, ...flags }))
}

const addTokens = (program: Command, perform: Perform): void => {
  const load = () => import('#cli/inbox/tokens.ts')
  const token = program.command('token').description('manage access tokens for the HTTP API')
  withConnection(token.command('create <name>'))
    .description('create a token for a person, a service or an agent; it is printed once')
    .requiredOption('--roles <names>', 'comma-separated roles: viewer, decider, operator, admin')
    .option('--kind <kind>', 'user, service or agent', 'user')
    .option('--groups <names>', 'comma-separated groups of the holder')
    .option('--tenant <name>', 'tenant of the token (default: your own)')
    .option('--expires <duration>', 'lifetime (90d)')
    .action((name, flags) => perform(async () => (await load()).createToken, { name, ...flags }))
  withConnection(token.command('list'))
    .description('list tokens, newest first')
    .option('--quiet', 'print ids only')
    .action((flags) => perform(async () => (await load()).listTokens, flags))
  withConnection(token.command('revoke <id>'))
    .description('revoke a token')
    .action((id, flags) => perform(async () => (await load()).revokeToken, { id, ...flags }))
}

const addLedgerViews = (program: Command, perform: Perform): void => {
  withConnection(program.command('costs'))
    .description('show model calls and their costs')
    .option('--by <day,agent,model>', 'group by these, comma-separated')
    .option('--from <day>', 'first day, like 2026-11-01')
    .option('--to <day>', 'last day')
    .action((flags) => perform(async () => (await import('#cli/runs/costs.ts')).costs, flags))
  const sessions = program.command('sessions').description('list and show sessions')
  withPage(withConnection(sessions.command('list')))
    .description('list sessions, newest first')
    .action((flags) => perform(async () => (await import('#cli/runs/sessions.ts')).listSessions, flags))
  withConnection(sessions.command('show <id>'))
    .description('show the memory and the checkpoints of a session')
    .action((id, flags) => perform(async () => (await import('#cli/runs/sessions.ts')).showSession, { id, ...flags }))
}

const addManifest = (program: Command, perform: Perform): void => {
  const load = () => import('#cli/manifest/manifest.ts')
  const manifest = program.command('manifest').description('check and inspect a manifest without running its code')
  const verb = (name: string): Command =>
    withOutput(manifest.command(`${name} [path]`)).option('--strict', 'treat warnings as errors')
  verb('validate')
    .description('list all errors and warnings, with line and column')
    .action((path, flags) => perform(async () => (await load()).validateManifest, { path, ...flags }))
  verb('graph')
    .description(
      'print a graph of events, functions, agents, humans, schedules, webhooks and states, as Mermaid or JSON',
    )
    .action((path, flags) => perform(async () => (await load()).drawManifest, { path, ...flags }))
  verb('types')
    .description('print TypeScript declarations of its events and handlers')
    .action((path, flags) => perform(async () => (await load()).typeManifest, { path, ...flags }))
  withOutput(manifest.command('stubs [path]'))
    .description('write missing files: function code, agent prompts, schemas; overwrites nothing')
    .option('--dry-run', 'only list the files')
    .action((path, flags) =>
      perform(async () => (await import('#cli/manifest/stubs.ts')).writeStubs, { path, ...flags }),
    )
  withOutput(manifest.command('diff <old> <new>'))
    .description('show the differences between two manifests in their long form; exits with 1 if there are any')
    .action((old, fresh, flags) => perform(async () => (await load()).diffManifests, { old, fresh, ...flags }))
  verb('print')
    .description('print the long form, with every short form written out')
    .action((path, flags) => perform(async () => (await load()).printLongForm, { path, ...flags }))
  withWork(manifest.command('versions'))
    .description('list the definitions that this ledger has run, and the open runs of each')
    .option('--quiet', 'print hashes only')
    .action((flags) => perform(async () => (await import('#cli/manifest/versions.ts')).listVersions, flags))
}

const addCheck = (program: Command, perform: Perform): void => {
  withOutput(program.command('check [path]'))
    .description('load a system as a deployment would; with --against, check it with the runs that have not ended')
    .option('--against <ledger|url>', 'a SQLite file, a Postgres URL, or a server (TRIHAND_TOKEN)')
    .action((path, flags) => perform(async () => (await import('#cli/manifest/check.ts')).check, { path, ...flags }))
}

const addSimulate = (program: Command, perform: Perform): void => {
  withOutput(program.command('simulate [path]'))
    .description(
      'simulate a manifest with generated data and stubs for functions, agents and humans; reports what was not reached',
    )
    .option('--event <type>', 'start with this event only')
    .option('--data <json>', 'data of that event (default: generated from its schema)')
    .option('--seed <n>', 'the same seed gives the same report (1)')
    .option('--paths <which>', 'which paths to take: first, random or all (all)')
    .option('--humans <how>', 'which decisions people make: approve, reject, random or all (all)')
    .option('--max-runs <n>', 'send no more events after this many runs (500)')
    .action((path, flags) =>
      perform(async () => (await import('#cli/manifest/simulate.ts')).simulate, { path, ...flags }),
    )
}

const addVerify = (program: Command, perform: Perform): void => {
  withOutput(program.command('backup <file>'))
    .description('copy a SQLite ledger to a file; the server may keep running')
    .option('--database <path>', 'path or URL of the ledger (DATABASE_URL)')
    .action((file, flags) => perform(async () => (await import('#cli/serving/backup.ts')).backup, { file, ...flags }))
  withOutput(program.command('rekey'))
    .description(
      'encrypt all payloads of a ledger again, with the first key of TRIHAND_LEDGER_KEY; stop all processes first',
    )
    .option('--database <path or url>', 'path or URL of the ledger (DATABASE_URL)')
    .option('--schema <name>', 'Postgres schema of the ledger')
    .action((flags) => perform(async () => (await import('#cli/serving/rekey.ts')).rekey, flags))
  withOutput(program.command('verify'))
    .description('check every invariant of a ledger; the server may keep running')
    .option('--file <path>', 'a SQLite ledger')
    .option('--url <url>', 'a Postgres ledger')
    .option('--schema <name>', 'Postgres schema of the ledger')
    .option('--anchor <file>', 'compare the ledger with the signed heads in this file, then update the file')
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
