/**
 * Every statement that the ledger writes and decides with, prepared once per database. All bindings are positional.
 *
 * Owns the SQL of the hot path. Never runs any of it. The Reader has its own statements (reader.ts).
 */
import { isEnded, RUN_STATUSES } from '#model/run/status.ts'
import { type Database, LIMIT, type Preparer, prepareList, preparingLater } from './driver.ts'
import { DUE_COLUMNS, EVENT_COLUMNS, FACT_COLUMNS, SESSION } from './rows.ts'

const REST = 's.key, s.id, s.kind, s.tenant, s.epoch, s.signal, s.status, s.wake_at, s.lease, s.recoveries, s.lane'
const STATE = `${REST}, s.version`

const ENDED = RUN_STATUSES.filter(isEnded)
  .map((status) => `'${status}'`)
  .join(', ')

const DUE = 'wake_at is not null and lease is null and aside is null'

const CLAIMABLE = `select ${DUE_COLUMNS} from stream where ${DUE} and wake_at <= ?`

const IN_LANES = `lane > '' and ${DUE}`

/** Its value is the names as a JSON array. */
const OF_HANDLERS = 'handler in (select value from json_each(?))'

/** How many facts one call of the driver writes; a larger number is slower again. */
export const FACTS_AT_ONCE = 8

const ADD_FACT = 'insert into fact (stream, seq, append_id, epoch, type, recorded_at, body, hash) values'
const FACT_VALUES = '(?, ?, ?, ?, ?, ?, ?, ?)'

const LAST_HASH = (key: string) => `select f.hash from fact f where f.stream = ${key} order by f.seq desc limit 1`
const COUNT_FACTS = 'select coalesce(max(f.seq) + 1, 0) from fact f where f.stream ='

/** The row of a held stream lags behind its facts: a statement that takes the lease away must update it with this. */
const CAUGHT_UP = `version = (${COUNT_FACTS} stream.key), head_hash = coalesce((${LAST_HASH('stream.key')}), head_hash)`

/** The version of a stream `s`, held or not. */
export const VERSION = `case when s.lease is null then s.version else (${COUNT_FACTS} s.key) end as version`
const HEAD_HASH = `case when s.lease is null then s.head_hash else coalesce((${LAST_HASH('s.key')}), s.head_hash) end as head_hash`

const streamStatements = (db: Database) => ({
  streamKey: db.prepare('select key from stream where id = ?'),
  streamState: db.prepare(`select ${STATE} from stream s where s.id = ?`),
  /** Its value is the ids as a JSON array of hex digits. */
  streamRecords:
    db.prepare(`select ${REST}, ${VERSION}, ${HEAD_HASH}, s.handler, s.system_hash, s.born_hash, s.session, s.parent, s.event, s.base, s.created_at,
    w.id as worker from stream s left join worker w on w.key = s.lease where s.id in (select unhex(value) from json_each(?))`),
  createStream:
    db.prepare(`insert into stream (id, kind, tenant, handler, system_hash, session, parent, event, base, version, epoch, signal,
    head_hash, status, wake_at, lease, recoveries, created_at, lane) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0, ?, ?)
    on conflict (id) do nothing`),
  settleStream:
    db.prepare(`update stream set version = ?, head_hash = ?, status = ?, signal = ?, wake_at = ?, lease = ?, recoveries = ?
    where key = ?`),
  /** For a stream that keeps its lease: no index holds any of these columns. */
  settleHeld: db.prepare(
    'update stream set version = ?, head_hash = ?, status = ?, signal = ?, recoveries = ? where key = ?',
  ),
  signalStream: db.prepare('update stream set signal = signal + 1, wake_at = ? where key = ?'),
  /** Signals all streams that wait for one value at one path, except those with the keys in a JSON array; a parked run's row is exact. */
  signalWaiting: db.prepare(`update stream set signal = signal + 1, wake_at = case when lease is null
      then min(coalesce(wake_at, ${Number.MAX_SAFE_INTEGER}), coalesce(?,
        (select f.recorded_at from fact f where f.stream = stream.key and f.seq = stream.version - 1), 0))
      else wake_at end
    where key in (select w.stream from wait w where w.type = ? and w.path = ? and w.value = ?) and tenant = ?
      and kind <> ${SESSION} and status not in (${ENDED}) and key not in (select value from json_each(?))
    returning key, id, lane`),
  baseOf: db.prepare('select base from stream where id = ?'),
  runsOfEvent: db.prepare('select id from stream where event = ? order by key'),
  addFact: db.prepare(`${ADD_FACT} ${FACT_VALUES}`),
  addFacts: db.prepare(`${ADD_FACT} ${Array(FACTS_AT_ONCE).fill(FACT_VALUES).join(', ')}`),
  addModelCall: db.prepare('insert into model_call (recorded_at, stream, seq) values (?, ?, ?)'),
  /** Its value is a JSON array of streams: the key of each, and the seq of the first wanted fact. */
  factsFrom: prepareList(
    db,
    `select ${FACT_COLUMNS}, f.stream from json_each(?) wanted
    cross join fact f on f.stream = wanted.value ->> 0 and f.seq >= wanted.value ->> 1 order by f.stream, f.seq`,
  ),
  factAt: db.prepare('select append_id, recorded_at from fact where stream = ? and seq = ?'),
  countFacts: db.prepare(`select (${COUNT_FACTS} ?) as count`),
})

const eventStatements = (db: Database) => ({
  addEvent:
    db.prepare(`insert into event (tenant, source, id, type, subject, time, correlation, causation, traceparent, hops, chain, data,
    data_hash, append_id, requesters) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) on conflict (id, source, tenant) do nothing`),
  eventIdentity: db.prepare('select seq, data_hash, append_id from event where id = ? and source = ? and tenant = ?'),
  lastEvent: db.prepare("select coalesce((select seq from sqlite_sequence where name = 'event'), 0) as seq"),
  eventsOfType: prepareList(
    db,
    `select ${EVENT_COLUMNS} from event where type = ? and tenant = ? and seq > ? order by seq ${LIMIT}`,
  ),
  newestOfType: prepareList(
    db,
    `select ${EVENT_COLUMNS} from event where type = ? and tenant = ? and seq > ? order by seq desc ${LIMIT}`,
  ),
  eventsAfter: prepareList(db, `select ${EVENT_COLUMNS} from event where tenant = ? and seq > ? order by seq ${LIMIT}`),
  /** The first value is the sequences as a JSON array. */
  eventsBySequence: prepareList(
    db,
    `select ${EVENT_COLUMNS} from event where seq in (select value from json_each(?)) and seq > ? and tenant = ?`,
  ),
  /** Its value is the sequences as a JSON array, of any tenant. */
  triggers: prepareList(db, `select ${EVENT_COLUMNS} from event where seq in (select value from json_each(?))`),
  /** Counts no further than the limit: the caller only needs to know whether there are more. */
  countEvents: db.prepare(
    `select count(*) as count from (select 1 from event where type = ? and tenant = ? and seq > ? ${LIMIT})`,
  ),
  addSuppressed: db.prepare(
    'insert or ignore into suppressed (event, trigger_name, reason, detail) values (?, ?, ?, ?)',
  ),
})

/** Driven by the list: one event is looked up for each of its rows. */
const ofValue = (order: '' | 'desc') => `select ${EVENT_COLUMNS.replace(/\w+/g, 'e.$&')} from event_value v
  cross join event e on e.seq = v.seq where v.key = ? and v.tenant = ? and v.seq > ? order by v.seq ${order} ${LIMIT}`

const valueStatements = (db: Preparer) => ({
  addValue: db.prepare('insert or ignore into event_value (key, tenant, seq) values (?, ?, ?)'),
  countValues: db.prepare(
    `select count(*) as count from (select 1 from event_value where key = ? and tenant = ? and seq > ? ${LIMIT})`,
  ),
  eventsOfValue: prepareList(db, ofValue('')),
  newestOfValue: prepareList(db, ofValue('desc')),
  valuePath: db.prepare('select since from value_path where tenant = ? and type = ? and path = ?'),
  addValuePath: db.prepare('insert or ignore into value_path (tenant, type, path, since) values (?, ?, ?, ?)'),
  moveValuePath: db.prepare('update value_path set since = ? where tenant = ? and type = ? and path = ?'),
  hasEventBetween: db.prepare('select seq from event where type = ? and tenant = ? and seq > ? and seq <= ? limit 1'),
  eventsBetween: prepareList(
    db,
    `select ${EVENT_COLUMNS} from event where type = ? and tenant = ? and seq > ? and seq <= ? order by seq desc ${LIMIT}`,
  ),
})

const waitStatements = (db: Preparer) => ({
  openWait: db.prepare('insert into wait (stream, step, type, path, value) values (?, ?, ?, ?, ?)'),
  closeWait: db.prepare('delete from wait where stream = ? and step = ?'),
  addWaitPath: db.prepare('insert or ignore into wait_path (type, path) values (?, ?)'),
  waitPaths: db.prepare('select type, path from wait_path'),
})

const workerStatements = (db: Database) => ({
  workerKey: db.prepare('select key from worker where id = ?'),
  addWorker: db.prepare('insert into worker (id, beat_at) values (?, ?)'),
  beatWorker: db.prepare('update worker set beat_at = ?, info = coalesce(?, info) where key = ?'),
  forgetWorker: db.prepare('delete from worker where key = ?'),
  forgetSilent: db.prepare('delete from worker where beat_at < ?'),
  /** Raises the epoch at once, so that a holder that is still alive is fenced immediately. */
  freeSilent:
    db.prepare(`update stream set lease = null, epoch = epoch + 1, wake_at = ?, recoveries = recoveries + 1, ${CAUGHT_UP}
    where lease in (select key from worker where beat_at < ?)`),
  freeRetired: db.prepare(
    `update stream set lease = null, epoch = epoch + 1, wake_at = ?, ${CAUGHT_UP} where lease = ?`,
  ),
  dueStreams: prepareList(db, `${CLAIMABLE} and lane = ? order by wake_at, key ${LIMIT}`),
  dueStreamsOf: prepareList(db, `${CLAIMABLE} and lane = '' and ${OF_HANDLERS} order by wake_at, key ${LIMIT}`),
  /** Also finds a run that was set aside, because the caller names it. */
  dueStream: prepareList(
    db,
    `select ${DUE_COLUMNS} from stream where wake_at is not null and lease is null and wake_at <= ? and id = ?`,
  ),
  leaseStreams: db.prepare(`update stream set lease = ?, epoch = epoch + 1, wake_at = null
    where key in (select value from json_each(?))`),
  /** Values: the version, and the keys as a JSON array. The runs were leased just now: a first claim keeps no earlier version (pin-5). */
  repinStreams:
    db.prepare(`update stream set born_hash = iif(epoch > 1, coalesce(born_hash, system_hash), born_hash), system_hash = ?, aside = null
    where key in (select value from json_each(?))`),
  /** Its value is the keys as a JSON array. */
  setAside: db.prepare('update stream set aside = 1 where key in (select value from json_each(?))'),
  takeBack: db.prepare('update stream set aside = null where aside is not null'),
  workerInfos: db.prepare('select info from worker where info is not null'),
  nextDue: db.prepare(`select wake_at from stream where ${DUE} and lane = '' order by wake_at, key limit 1`),
  nextDueOf: db.prepare(
    `select wake_at from stream where ${DUE} and lane = '' and ${OF_HANDLERS} order by wake_at, key limit 1`,
  ),
})

const laneStatements = (db: Preparer) => ({
  /** With `indexed by`, because SQLite would sort all of them otherwise. */
  firstInLanes: db.prepare(
    `select id, wake_at from stream indexed by stream_lane_due where ${IN_LANES} order by wake_at limit 1`,
  ),
  nextInLanes: db.prepare(`select wake_at from stream where ${IN_LANES} and wake_at > ? order by wake_at limit 1`),
  nextInLanesOf: db.prepare(
    `select wake_at from stream where ${IN_LANES} and wake_at > ? and ${OF_HANDLERS} order by wake_at limit 1`,
  ),
  /** Steps from lane to lane and returns those with a due run: the cost is one step per lane, however many runs wait in it. */
  dueLanes: db.prepare(`with recursive waiting (lane) as (
    select min(lane) from stream where ${IN_LANES}
    union all select (select min(lane) from stream where ${DUE} and lane > waiting.lane) from waiting where waiting.lane is not null)
    select lane from waiting
    where (select wake_at from stream s where ${DUE} and s.lane = waiting.lane order by wake_at limit 1) <= ?`),
  firstInLane: db.prepare(`select id from stream where ${DUE} and lane = ? order by wake_at, key limit 1`),
  heldInLanes: db.prepare(
    "select lane, count(*) as count from stream where lane > '' and lease is not null group by lane",
  ),
})

const taskStatements = (db: Preparer) => ({
  putTask:
    db.prepare(`insert into task (id, tenant, run, step, status, is_open, type, title, addresses, claimed_by, priority, deadline,
    created_at, updated_at, put_off, summary) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
    on conflict (id) do update set status = excluded.status, is_open = excluded.is_open, type = excluded.type, title = excluded.title,
      addresses = excluded.addresses, claimed_by = excluded.claimed_by, priority = excluded.priority, deadline = excluded.deadline,
      updated_at = excluded.updated_at, put_off = excluded.put_off, summary = excluded.summary`),
  dropTaskAddresses: db.prepare('delete from task_address where task = ?'),
  addTaskAddress: db.prepare(
    'insert into task_address (task, address, tenant, status, deadline) values (?, ?, ?, ?, ?)',
  ),
})

const otherStatements = (db: Database) => ({
  putDocument: db.prepare(`insert into document (tenant, table_name, key, body) values (?, ?, ?, ?)
    on conflict (tenant, table_name, key) do update set body = excluded.body`),
  dropDocument: db.prepare('delete from document where tenant = ? and table_name = ? and key = ?'),
  putBlob: db.prepare('insert or ignore into blob (hash, body) values (?, ?)'),
  getBlob: db.prepare('select body from blob where hash = ?'),
  savepoint: db.prepare('savepoint append'),
  rollBackToSavepoint: db.prepare('rollback to append'),
  releaseSavepoint: db.prepare('release append'),
})

/** Statements that most processes never run are prepared on first use. */
export const prepareStatements = (db: Database, later = preparingLater(db)) => ({
  ...streamStatements(db),
  ...eventStatements(db),
  ...valueStatements(later),
  ...waitStatements(later),
  ...workerStatements(db),
  ...laneStatements(later),
  ...taskStatements(later),
  ...otherStatements(db),
})

export type Statements = ReturnType<typeof prepareStatements>
