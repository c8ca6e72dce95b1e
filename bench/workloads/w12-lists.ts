/**
 * W12: how long each list takes to return a page of runs or of an inbox, in a ledger with 1,000,000 runs and 100,000 open tasks.
 *
 * Each figure is the p99 of the slowest query of its list: first and deep pages, every filter, common and rare values.
 */
import { MOST_COUNTED } from '#http/wire/counts.ts'
import { LOCAL_TENANT, type RunId, type TaskId } from '#model/kernel/ids.ts'
import type { Reader, RunQuery, TaskQuery } from '#ports/reader.ts'
import { fill, GROUPS, HANDLERS, RARE, runAt, type Size, taskAt, USERS } from '../fill.ts'
import { atMost, type Measurement, median, percentile } from '../report.ts'
import { type BenchLedger, open } from '../target.ts'

const FULL: Size = { runs: 1_000_000, tasks: 100_000 }
const QUICK: Size = { runs: 100_000, tasks: 10_000 }
const WARM_UP = 5
const ASKED = 100
const BOUND_MS = 50
const PAGE = 51

type Question = (reader: Reader, round: number) => Promise<unknown>

const RUNS: RunQuery = { tenant: LOCAL_TENANT, status: null, handler: null, before: null, limit: PAGE }
const TASKS: TaskQuery = {
  ...{ tenant: LOCAL_TENANT, isOpen: true, addresses: null, viewer: null, status: null, type: null },
  ...{ claimedBy: null, run: null, order: 'newest', after: null, limit: PAGE },
}

const runs =
  (query: Partial<RunQuery>): Question =>
  (reader) =>
    reader.runs({ ...RUNS, ...query })
const tasks =
  (query: Partial<TaskQuery>): Question =>
  (reader) =>
    reader.tasks({ ...TASKS, ...query })

const person = (round: number): readonly string[] => [
  `user:u${round % USERS}`,
  `group:g${round % GROUPS}`,
  `group:g${(round + 7) % GROUPS}`,
]

/** The queries of each list. `deep` is a run and `deepTask` a task in the middle of all. */
const questions = (
  deep: RunId,
  deepTask: TaskId,
  digits: string,
): Readonly<Record<string, Readonly<Record<string, Question>>>> => ({
  'run list': {
    newest: runs({}),
    deep: runs({ before: deep }),
    failed: runs({ status: 'failed' }),
    'failed, deep': runs({ status: 'failed', before: deep }),
    success: runs({ status: 'success' }),
    running: runs({ status: 'running' }),
    'of rare status': runs({ status: RARE.status }),
    'of a handler': runs({ handler: 'h3' }),
    'of a handler, deep': runs({ handler: 'h3', before: deep }),
    'of a rare handler': runs({ handler: RARE.handler }),
    'failed of a handler': runs({ handler: 'h3', status: 'failed' }),
  },
  'run counts': {
    'of the newest': (reader) => reader.newestCounts(LOCAL_TENANT, MOST_COUNTED),
  },
  'all runs counted': {
    all: (reader) => reader.counts(LOCAL_TENANT),
    'of a handler': (reader, round) => reader.counts(LOCAL_TENANT, `h${round % HANDLERS}`),
  },
  inbox: {
    newest: tasks({}),
    deep: tasks({ after: deepTask }),
    'by deadline': tasks({ order: 'deadline' }),
    'of a person': (reader, round) =>
      reader.tasks({ ...TASKS, addresses: person(round), viewer: { user: RARE.person, now: 1 } }),
    'of a person by deadline': (reader, round) =>
      reader.tasks({ ...TASKS, addresses: person(round), order: 'deadline' }),
    'of a group': tasks({ addresses: ['group:g3'] }),
    'of rare status': tasks({ status: RARE.taskStatus }),
    'of a type': tasks({ type: 'approval' }),
    'of a rare type': tasks({ type: RARE.type }),
    'of who has them': tasks({ claimedBy: RARE.person }),
  },
  'inbox counts': {
    all: (reader) => reader.taskCounts(LOCAL_TENANT, null, MOST_COUNTED),
    'of a person': (reader, round) => reader.taskCounts(LOCAL_TENANT, person(round), MOST_COUNTED),
  },
  'open tasks counted': { 'by type': (reader) => reader.openTasks(LOCAL_TENANT, 1) },
  'run by last digits': { found: (reader) => reader.runsEndingWith(LOCAL_TENANT, digits) },
})

const timesOf = async (reader: Reader, question: Question): Promise<readonly number[]> => {
  const times: number[] = []
  for (let round = 0; round < WARM_UP + ASKED; round++) {
    const from = performance.now()
    await question(reader, round)
    if (round >= WARM_UP) times.push(performance.now() - from)
  }
  return times
}

/** Queries that no page waits for: a person rarely searches a run by its digits, and exact counts are for conditions and metrics. */
const WITHOUT_TARGET = ['run by last digits', 'all runs counted', 'open tasks counted']

const slowest = async (
  reader: Reader,
  list: string,
  asked: Readonly<Record<string, Question>>,
): Promise<Measurement> => {
  let worst = { name: '', ms: -1 }
  for (const [name, question] of Object.entries(asked)) {
    const times = await timesOf(reader, question)
    const ms = percentile(times, 0.99)
    if (process.env['BENCH_DETAIL'] === '1')
      process.stderr.write(`  ${list} ${name}: p50 ${median(times).toFixed(2)} ms, p99 ${ms.toFixed(2)} ms\n`)
    if (ms > worst.ms) worst = { name, ms }
  }
  const target = WITHOUT_TARGET.includes(list) ? {} : { target: atMost(BOUND_MS) }
  return { metric: `${list}, p99 (slowest: ${worst.name})`, value: worst.ms, unit: 'ms', ...target }
}

export const longLists = async (ledger: BenchLedger, isQuick: boolean): Promise<readonly Measurement[]> => {
  const size = isQuick ? QUICK : FULL
  const place = ledger.fresh()
  await (await open(place, undefined, { work: false })).close()
  await fill(place, size)
  const app = await open(place, undefined, { work: false })
  const { reader } = app
  const middle = runAt(size.runs / 2)
  const measured: Measurement[] = []
  const all = questions(middle, taskAt(size.tasks / 2), middle.slice(-8))
  for (const [list, asked] of Object.entries(all)) measured.push(await slowest(reader, list, asked))
  await app.close()
  await place.remove()
  return measured
}
