/**
 * Fills a ledger with very many runs and open tasks by bulk SQL, so that lists have to find their pages in a large table.
 *
 * Owns the mix: most runs succeeded long ago, one in twenty failed, as many wait as there are open tasks, and a few were cancelled or
 * belong to a rarely used handler. Writes no hashes, and on Postgres only the facts by which a run is found: no list reads the others.
 */
import { createRequire } from 'node:module'
import pg from 'pg'
import { claimableId, type RunId, runId, type TaskId } from '#model/kernel/ids.ts'
import type { Place } from './target.ts'

const { DatabaseSync } = createRequire(import.meta.url)(
  '@photostructure/sqlite',
) as typeof import('@photostructure/sqlite')

export interface Size {
  readonly runs: number
  readonly tasks: number
}

/** The number of people and of groups; each task is in the inbox of one of them. */
export const USERS = 500
export const GROUPS = 20
export const HANDLERS = 20
export const RARE = {
  handler: 'rare',
  type: 'input',
  status: 'cancelled',
  taskStatus: 'in_review',
  person: 'ana',
} as const
/** The rare runs are among the oldest. */
const MANY = 97
const RARE_RUNS = 5_000
const FIRST_MS = 1_700_000_000_000

/** SQL that both dialects share, for each number `i` from 1. */
const HANDLER = `case when i % ${MANY} = 0 and i < ${RARE_RUNS} then '${RARE.handler}' else 'h' || (i % ${HANDLERS}) end`
const statusOf = ({ runs, tasks }: Size): string => `case when i > ${runs - tasks} then 'waiting'
    when i % ${MANY} = 1 and i < ${RARE_RUNS} then '${RARE.status}' when i % 20 = 3 then 'failed' else 'success' end`
const TYPE = `case when i % 1000 = 7 then '${RARE.type}' else 'approval' end`
const TASK_STATUS = `case when i % 500 = 9 then '${RARE.taskStatus}' else 'pending' end`
const CLAIMED_BY = `case when i % 500 = 9 then '${RARE.person}' end`
const DEADLINE = `case when i % 3 = 0 then ${FIRST_MS} + (i * 7919) % 1000000007 end`
const ADDRESSES = `'["user:u' || (i % ${USERS}) || '","group:g' || (i % ${GROUPS}) || '"]'`
const INBOXES = [`'*'`, `'user:u' || (i % ${USERS})`, `'group:g' || (i % ${GROUPS})`]
const NEVER = Number.MAX_SAFE_INTEGER

const STREAM = `insert into stream (id, kind, tenant, handler, system_hash, base, version, epoch, signal, head_hash, status, recoveries,
  created_at, lane)`
const TASK = `insert into task (id, tenant, run, step, status, is_open, type, title, addresses, claimed_by, priority, deadline, created_at,
  updated_at, put_off, summary)`
const ADDRESS = 'insert into task_address (task, address, tenant, status, deadline)'

const hex = (n: number, digits: number): string => n.toString(16).padStart(digits, '0')
const digitsOf = (n: number, mark: string): string =>
  `${hex(FIRST_MS + n, 12)}${mark}${hex(n % 251, 2)}8${hex(n % 4093, 3)}${hex((n * 2_654_435_761) % 2 ** 48, 12)}`

/** The n-th run or task, counted from 1, with the same id as in SQL. */
export const runAt = (n: number): RunId => runId(digitsOf(n, '70'))
export const taskAt = (n: number): TaskId => claimableId(digitsOf(n, '83')) as TaskId

interface Dialect {
  /** The uuid of the n-th run, or of its task. */
  readonly id: (n: string, mark: '70' | '83') => string
  readonly numbers: (count: number) => string
  readonly yes: string
}

const SQLITE: Dialect = {
  id: (n, mark) =>
    `unhex(printf('%012x${mark}%02x8%03x%012x', ${FIRST_MS} + ${n}, ${n} % 251, ${n} % 4093, (${n} * 2654435761) % 281474976710656))`,
  numbers: (count) =>
    `(with recursive n(i) as (select 1 union all select i + 1 from n where i < ${count}) select i from n)`,
  yes: '1',
}

const POSTGRES: Dialect = {
  id: (n, mark) => `(lpad(to_hex(${FIRST_MS} + ${n}), 12, '0') || '${mark}' || lpad(to_hex(${n} % 251), 2, '0') || '8'
    || lpad(to_hex(${n} % 4093), 3, '0') || lpad(to_hex((${n} * 2654435761) % 281474976710656), 12, '0'))::uuid`,
  numbers: (count) => `(select i::bigint from generate_series(1, ${count}) as i) n`,
  yes: 'true',
}

const statements = (size: Size, { id, numbers, yes }: Dialect): readonly string[] => {
  const runOfTask = `(${size.runs - size.tasks} + i)`
  const tasks = numbers(size.tasks)
  return [
    `${STREAM} select ${id('i', '70')}, 0, 'local', ${HANDLER}, '', 0, 3, 1, 0, '', ${statusOf(size)}, 0, ${FIRST_MS} + i, '' from ${numbers(size.runs)}`,
    `${STREAM} select ${id('i', '83')}, 3, 'local', 'ask', '', 0, 1, 0, 0, '', 'waiting', 0, ${FIRST_MS} + i, '' from ${tasks}`,
    `${TASK} select ${id('i', '83')}, 'local', ${id(runOfTask, '70')}, 'ask', ${TASK_STATUS}, ${yes}, ${TYPE}, 'Task ' || i, ${ADDRESSES},
      ${CLAIMED_BY}, 0, ${DEADLINE}, ${FIRST_MS} + i, ${FIRST_MS} + i, '{}', '{}' from ${tasks}`,
    ...INBOXES.map(
      (address) =>
        `${ADDRESS} select ${id('i', '83')}, ${address}, 'local', ${TASK_STATUS}, coalesce(${DEADLINE}, ${NEVER}) from ${tasks}`,
    ),
  ]
}

/** On Postgres a run is found by its first fact. */
const firstFacts = ({
  runs,
}: Size): string => `insert into fact (stream, seq, append_id, epoch, type, recorded_at, body, hash)
  select ${POSTGRES.id('i', '70')}, 0, '', 0, 'run.created', ${FIRST_MS} + i, '{}', '' from ${POSTGRES.numbers(runs)}`

const fillSqlite = (file: string, size: Size): void => {
  const db = new DatabaseSync(file)
  // The measurement uses another connection later.
  db.exec('pragma synchronous = off; pragma cache_size = -200000; begin')
  for (const statement of statements(size, SQLITE)) db.exec(statement)
  db.exec('commit; pragma wal_checkpoint(truncate)')
  db.close()
}

const fillPostgres = async (url: string, schema: string, size: Size): Promise<void> => {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  await client.query(`set search_path to "${schema}"; set synchronous_commit to off`)
  for (const statement of [...statements(size, POSTGRES), firstFacts(size)]) await client.query(statement)
  // The server would do this by itself after a while.
  for (const table of ['stream', 'fact', 'task', 'task_address']) await client.query(`vacuum analyze ${table}`)
  await client.end()
}

export const fill = async (place: Place, size: Size): Promise<void> =>
  place.schema === null ? fillSqlite(place.database, size) : fillPostgres(place.database, place.schema, size)
