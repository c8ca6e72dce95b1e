/**
 * The connections of one process to its Postgres.
 *
 * Owns how they are opened, checked and discarded. Every connection proves that its commits are durable before it is used, and none is
 * used again after an error or a timeout. Never throws an error of the driver.
 */
import pg from 'pg'
import { TrihandError } from '#model/kernel/errors.ts'
import { translate } from './errors.ts'
import { WaitingLine } from './waiting-line.ts'

/** Prepared once per connection, under its name. */
export interface Statement {
  readonly name: string
  readonly text: string
}

export type Value = string | number | boolean | null | readonly string[] | readonly number[]

export interface Command {
  readonly statement: Statement
  readonly values: readonly Value[]
}

/** Sends statements together and returns the rows of each. */
export type Ask = <Row>(commands: readonly Command[]) => Promise<readonly (readonly Row[])[]>

export interface PoolOptions {
  readonly url: string
  /** Null: the search_path that the url or the server names. */
  readonly schema: string | null
  readonly max: number
}

/** The server's timeouts are shorter than the client's, so that its definite answer comes first. */
const SETTINGS = [
  'synchronous_commit=on',
  'statement_timeout=8000',
  'lock_timeout=3000',
  'idle_in_transaction_session_timeout=10000',
  'timezone=UTC',
  // Plans are made once per connection, perhaps while the tables are empty. So that no plan becomes a scan of a table that has grown,
  // rows are reachable only by an index, and the only join is a loop of such lookups. append-sql.ts does the rest.
  'plan_cache_mode=force_generic_plan',
  'enable_seqscan=off',
  'enable_bitmapscan=off',
  'enable_hashjoin=off',
  'enable_mergejoin=off',
  'jit=off',
  // A count takes some ten milliseconds: starting parallel workers for it takes as long.
  'max_parallel_workers_per_gather=0',
]

const CHECK = `select current_setting('synchronous_commit') as commits, current_setting('fsync') as fsync,
  pg_is_in_recovery() as is_standby, current_setting('transaction_read_only') as read_only`

interface Durability {
  readonly commits: string
  readonly fsync: string
  readonly is_standby: boolean
  readonly read_only: string
}

/** A change of the schema may wait for another process that makes the same change; the server gives up first (open.ts). */
const SCRIPT_TIMEOUT_MS = 660_000

/** The number of batches in flight at once. */
const MIN_CONNECTIONS = 2

const INT8 = 20

const safeInteger = (text: string): number => {
  const value = Number(text)
  if (Number.isSafeInteger(value)) return value
  // The value may come from the answer to a write that was done.
  throw new TrihandError('LEDGER_CORRUPT', `the ledger has the number ${text}, which is not a safe integer`, {
    outcome: 'unknown',
  })
}

/** For our clients only: a global parser would change other users of the driver in this process. */
const types: pg.CustomTypesConfig = {
  getTypeParser: (oid: number, format?: 'text' | 'binary') =>
    oid === INT8 && format !== 'binary' ? safeInteger : pg.types.getTypeParser(oid, format),
}

/** The url's own `options` would replace ours, so they are joined: ours first, so that the check sees a weaker one. */
const split = (url: string): { readonly connectionString: string; readonly extra: string } => {
  try {
    const parsed = new URL(url)
    const extra = parsed.searchParams.get('options') ?? ''
    parsed.searchParams.delete('options')
    return { connectionString: parsed.href, extra }
  } catch (cause) {
    throw new TrihandError('CONFIG_INVALID', 'the database URL is not valid; expected postgres://user@host:port/name', {
      cause,
    })
  }
}

export const clientConfig = ({ url, schema }: Pick<PoolOptions, 'url' | 'schema'>): pg.ClientConfig => {
  const { connectionString, extra } = split(url)
  const settings = schema === null ? SETTINGS : [...SETTINGS, `search_path=${schema}`]
  return {
    connectionString,
    options: `${settings.map((setting) => `-c ${setting}`).join(' ')} ${extra}`,
    connectionTimeoutMillis: 5000,
    query_timeout: 10_000,
    keepAlive: true,
    // Statements that do not depend on each other's answer are sent together.
    pipeline: true,
    types,
  }
}

const checkDurable = async (client: pg.ClientBase): Promise<void> => {
  const { rows } = await client.query<Durability>(CHECK)
  const [found] = rows
  const faults = [
    found?.commits !== 'on' && found?.commits !== 'remote_apply' && `synchronous_commit is ${found?.commits}`,
    found?.fsync !== 'on' && `fsync is ${found?.fsync}`,
    found?.is_standby !== false && 'the server is a standby',
    found?.read_only !== 'off' && 'transactions are read-only',
  ].filter((fault) => fault !== false)
  if (faults.length > 0) throw new TrihandError('LEDGER_NOT_DURABLE', `Postgres: ${faults.join(', ')}`)
}

export class Database {
  readonly #pool: pg.Pool
  /** Our own queue: the pool's would reject a waiter after the time that a connection may take to open. */
  readonly #line: WaitingLine
  #isClosed = false

  constructor({ url, schema, max }: PoolOptions) {
    this.#line = new WaitingLine(max)
    this.#pool = new pg.Pool({
      ...clientConfig({ url, schema }),
      max,
      // A connection keeps its plans, so the last ones stay open while idle: an event after a pause finds them ready.
      min: Math.min(MIN_CONNECTIONS, max),
      maxLifetimeSeconds: 1800,
      verify: (client, done) => {
        checkDurable(client).then(
          () => done(),
          (error: unknown) => done(translate(error, false)),
        )
      },
    })
    // A broken connection emits the error on itself and on the pool. Its user gets it from the query; an idle one is simply removed.
    this.#pool.on('error', ignore)
    this.#pool.on('connect', (client) => client.on('error', ignore))
  }

  /** Runs one statement in its own transaction: one round trip. */
  async query<Row>(statement: Statement, values: readonly Value[]): Promise<readonly Row[]> {
    const [rows] = await this.#burst<Row>([toQuery({ statement, values })])
    return rows ?? []
  }

  /** Runs several statements, each in its own transaction, sent together. */
  queries<Row>(commands: readonly Command[]): Promise<readonly (readonly Row[])[]> {
    return this.#burst<Row>(commands.map(toQuery))
  }

  /**
   * Runs several statements in one transaction, sent together: one round trip. A statement after a failed one fails as well, and the
   * commit at the end then rolls back.
   */
  async transaction<Row>(commands: readonly Command[]): Promise<readonly (readonly Row[])[]> {
    const answers = await this.#burst<Row>([{ text: 'begin' }, ...commands.map(toQuery), { text: 'commit' }])
    return answers.slice(1, -1)
  }

  /** Runs one transaction in which a query may depend on an earlier answer. Nothing is written unless the work succeeds. */
  async converse<Result>(work: (ask: Ask) => Promise<Result>): Promise<Result> {
    // Sent with the first query.
    let opening: readonly pg.QueryConfig[] = [{ text: 'begin' }]
    return this.#connected(async (client) => {
      const ask: Ask = async <Row>(commands: readonly Command[]) => {
        const [first, rest] = [opening, commands.map(toQuery)]
        opening = []
        return (await send<Row>(client, [...first, ...rest])).slice(first.length)
      }
      const result = await work(ask)
      await send(client, [{ text: 'commit' }])
      return result
    })
  }

  /** Runs one text of several statements, without parameters, in one transaction: for the schema. */
  async script(text: string): Promise<void> {
    await this.#burst([{ text, query_timeout: SCRIPT_TIMEOUT_MS } as pg.QueryConfig])
  }

  /** Safe to call twice. */
  async close(): Promise<void> {
    if (this.#isClosed) return
    this.#isClosed = true
    await this.#pool.end()
  }

  #burst<Row>(queries: readonly pg.QueryConfig[]): Promise<readonly (readonly Row[])[]> {
    return this.#connected((client) => send<Row>(client, queries))
  }

  async #connected<Result>(work: (client: pg.PoolClient) => Promise<Result>): Promise<Result> {
    await this.#line.enter()
    try {
      return await this.#use(await this.#connect(), work)
    } finally {
      this.#line.leave()
    }
  }

  async #use<Result>(client: pg.PoolClient, work: (client: pg.PoolClient) => Promise<Result>): Promise<Result> {
    try {
      const result = await work(client)
      client.release()
      return result
    } catch (error) {
      client.release(true)
      throw translate(error, true)
    }
  }

  async #connect(): Promise<pg.PoolClient> {
    if (this.#isClosed) throw new TrihandError('LEDGER_UNAVAILABLE', 'this ledger is closed')
    try {
      return await this.#pool.connect()
    } catch (error) {
      const reason = translate(error, false)
      this.#line.disperse(reason)
      throw reason
    }
  }
}

/** Throws the first failure: later ones only say that the transaction is broken. */
const send = async <Row>(
  client: pg.PoolClient,
  queries: readonly pg.QueryConfig[],
): Promise<readonly (readonly Row[])[]> => {
  const settled = await Promise.allSettled(sendTogether(client, queries))
  const failed = settled.find((one) => one.status === 'rejected')
  if (failed !== undefined) throw failed.reason
  return settled.map((one) => (one.status === 'fulfilled' ? (one.value.rows as readonly Row[]) : []))
}

/** One write to the socket for all queries: the server finds the next statement there when it has done the one before. */
const sendTogether = (client: pg.PoolClient, queries: readonly pg.QueryConfig[]): Promise<pg.QueryResult>[] => {
  const { stream } = client.connection
  stream.cork()
  try {
    return queries.map((query) => client.query(query))
  } finally {
    stream.uncork()
  }
}

const ignore = (): void => undefined

const toQuery = ({ statement, values }: Command): pg.QueryConfig => ({ ...statement, values: [...values] })
