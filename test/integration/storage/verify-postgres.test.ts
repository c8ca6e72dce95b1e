/** The checker on a Postgres ledger: the same rules as on a file, and a snapshot that no writer disturbs. */
import pg from 'pg'
import { describe, expect, onTestFinished, test } from 'vitest'
import { invariants } from '#cli/verify/report.ts'
import { UnreadableLedger } from '#cli/verify/source/source.ts'
import { type VerifyOptions, verifyLedger } from '#cli/verify/verify.ts'
import { type CleanLedger, writeCleanLedger } from '#test/support/stores/clean-ledger.ts'
import { LedgerByHand, onPostgres } from '#test/support/stores/ledger-by-hand.ts'
import { freshSchema } from '#test/support/stores/postgres-schema.ts'
import { aWait, CHILD, fact, started } from '#test/support/stories/run-story.ts'

const url = process.env['TRIHAND_TEST_PG_URL']

const aLedger = async (server: string): Promise<LedgerByHand> => {
  const { schema, drop } = await freshSchema(server)
  onTestFinished(drop)
  const ledger = new LedgerByHand(await onPostgres(server, schema))
  onTestFinished(() => ledger.close())
  return ledger
}

const judge = async (ledger: LedgerByHand, options: VerifyOptions = {}) =>
  (await verifyLedger(ledger.target, options)).violations.map(({ id, stream, seq }) => ({ id, stream, seq }))

describe.skipIf(url === undefined)('the checker on Postgres', () => {
  const server = url ?? ''

  test('a valid ledger passes, and every check that needs only the ledger was made', async () => {
    const ledger = await aLedger(server)
    await writeCleanLedger(ledger)
    const report = await verifyLedger(ledger.target)
    expect(report.violations).toEqual([])
    expect(report).toMatchObject({ runs: 10, sessions: 2, tasks: 2, events: 3 })
    expect(invariants().filter((id) => report.checked[id] === 0)).toEqual(['V1', 'V27'])
  })

  test.each<readonly [string, string, (clean: CleanLedger) => string, keyof CleanLedger | null]>([
    ['V2', 'a deleted fact', () => 'delete from fact where seq = 1', 'paid'],
    ['V2', 'facts of no stream', ({ parent }) => `delete from stream where id = '${parent.slice(4)}'`, null],
    ['V3', 'a changed body', () => `update fact set body = replace(body, '"ok"', '"oh"')`, 'paid'],
    ['V3', 'a missing blob', () => 'delete from blob', 'paid'],
    ['V3', 'a missing document', () => 'delete from blob', 'session'],
    ['V4', 'a wrong status', () => `update stream set status = 'failed' where event is not null`, 'paid'],
    ['V6', 'time that goes back', () => 'update fact set recorded_at = 5 where seq = 2', 'paid'],
    ['V12', 'an epoch that falls', () => 'update fact set epoch = 0 where seq = 2', 'paid'],
    ['V13', 'an orphan', ({ parent }) => `delete from stream where parent = '${parent.slice(4)}'`, 'parent'],
    ['V15', 'a missing event', () => 'delete from event where seq = 1', 'paid'],
    ['V16', 'a missing emitted event', () => 'delete from event where causation is not null', 'paid'],
    ['V16', 'an event of no run', () => `update event set causation = 'run_${'0'.repeat(32)}'`, null],
    ['V17', 'an event that was never there', () => `delete from event where type = 'order.shipped'`, null],
    ['V18', 'a chain of another length', () => 'update event set hops = 7', null],
  ])('[%s] %s is found', async (id, _, fault, where) => {
    const ledger = await aLedger(server)
    const clean = await writeCleanLedger(ledger)
    await ledger.sql(fault(clean))
    const verdict = await judge(ledger)
    expect(verdict).toContainEqual(expect.objectContaining(where === null ? { id } : { id, stream: clean[where] }))
  })

  test('[V13][V17] lost wakes are found', async () => {
    const ledger = await aLedger(server)
    const orphan = await ledger.run([started(), fact('child.started', { child: CHILD })])
    const deaf = await ledger.run([started(), fact('wait.opened', { wait: aWait({ types: ['order.paid'], base: 0 }) })])
    await ledger.event({ type: 'order.paid' })
    expect(await judge(ledger)).toEqual([
      { id: 'V13', stream: orphan, seq: 1 },
      { id: 'V17', stream: deaf, seq: 1 },
    ])
  })

  test('more rows than one page are read completely', async () => {
    const ledger = await aLedger(server)
    const facts = Array.from({ length: 450 }, (_, i) => fact('step.completed', { step: `step-${i}` }))
    const stream = await ledger.run([started(), ...facts, fact('step.completed', { step: 'step-0' })], {
      lease: 'wrk-1',
    })
    expect(await judge(ledger)).toEqual([{ id: 'V7', stream, seq: 451 }])
    expect(await verifyLedger(ledger.target)).toMatchObject({ facts: 452 })
  })

  test('verify-1: an open transaction of another connection is neither seen nor waited for', async () => {
    const ledger = await aLedger(server)
    await writeCleanLedger(ledger)
    await ledger.sql('begin; update stream set version = version + 1')
    expect(await judge(ledger)).toEqual([])
    await ledger.sql('rollback')
  })

  test('only the streams and events of the named tenant are checked', async () => {
    const ledger = await aLedger(server)
    await ledger.run([started(), fact('run.completed')], { tenant: 'acme' })
    await ledger.run([started(), fact('step.completed'), fact('step.completed')], { tenant: 'other', lease: 'wrk-1' })
    expect(await judge(ledger, { tenant: 'acme' })).toEqual([])
    expect(await judge(ledger)).toHaveLength(1)
  })

  test('verify-2: a missing server or schema is unreadable, and the message says why', async () => {
    const { schema, drop } = await freshSchema(server)
    onTestFinished(drop)
    const nowhere = new URL(server)
    nowhere.port = '1'
    for (const { target, reason } of [
      { target: { url: nowhere.href }, reason: 'ECONNREFUSED' },
      { target: { url: server, schema }, reason: 'trihand_migration' },
    ]) {
      const failure = await verifyLedger(target).catch((error: unknown) => error)
      expect(failure).toBeInstanceOf(UnreadableLedger)
      expect(String(failure)).toContain(reason)
    }
  })

  test('verify-2: a number beyond the safe integers is reported, not rounded', async () => {
    const ledger = await aLedger(server)
    await ledger.run([started(), fact('run.completed')])
    await ledger.sql('update stream set version = 9007199254740993')
    await expect(verifyLedger(ledger.target)).rejects.toThrow('9007199254740993')
  })

  test('no session stays open on the server', async () => {
    const ledger = await aLedger(server)
    const name = `verify_${Math.floor(performance.now())}`
    const named = new URL(server)
    named.searchParams.set('application_name', name)
    const schema = 'schema' in ledger.target ? ledger.target.schema : ''
    await verifyLedger({ url: named.href, schema })
    const client = new pg.Client({ connectionString: server })
    await client.connect()
    onTestFinished(() => client.end())
    const { rows } = await client.query('select 1 from pg_stat_activity where application_name = $1', [name])
    expect(rows).toEqual([])
  })
})
