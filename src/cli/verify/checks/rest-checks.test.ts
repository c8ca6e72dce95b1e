/** What must hold for a run between two facts, each with one planted fault. */
import { expect, test } from 'vitest'
import type { Invariant } from '#cli/verify/report.ts'
import type { RunFact } from '#model/run/fact.ts'
import { aLedger, judge } from '#test/support/judged.ts'
import { FAR } from '#test/support/stores/clean-ledger.ts'
import type { RunOptions } from '#test/support/stores/ledger-by-hand.ts'
import { aWait, CHILD, fact, started, unasked } from '#test/support/stories/run-story.ts'

const judged = async (facts: readonly RunFact[], options: RunOptions = {}): Promise<readonly Invariant[]> => {
  const ledger = await aLedger()
  await ledger.run([started(), ...facts], options)
  return (await judge(ledger)).map(({ id }) => id)
}

const waiting = fact('wait.opened', {
  wait: aWait({ types: ['mail.read', 'mail.lost'], match: { path: 'id', value: '7' } }),
})
const sleeping = fact('timer.set', { wakeAt: FAR })

test.each([
  ['another end', [fact('run.completed')], { status: 'partial' }],
  ['no end', [fact('run.completed')], { status: 'waiting' }],
  ['an end', [waiting], { status: 'failed' }],
  ['a cancel', [waiting], { status: 'cancelling' }],
  ['a pause', [waiting], { status: 'paused' }],
  ['no known word', [waiting], { status: 'asleep' }],
] as const)('[V4] a status that says %s, unlike the facts, is found', async (_, facts, options) => {
  expect(await judged(facts, options)).toEqual(['V4'])
})

test('[V13] a paused run needs no wake', async () => {
  expect(await judged([fact('run.paused')], { status: 'paused', wakeAt: null })).toEqual([])
  expect(await judged([fact('run.paused'), sleeping], { status: 'paused', wakeAt: null })).not.toContain('V13')
  expect(await judged([fact('run.paused'), fact('run.resumed')], { status: 'waiting', wakeAt: null })).toEqual(['V13'])
})

test.each([
  ['a missing row', "delete from wait where type = 'mail.lost'"],
  ['a row for another value', "update wait set value = '8' where type = 'mail.lost'"],
  ['a row too many', "insert into wait select stream, 'other', type, path, value from wait limit 1"],
])('[V4] %s in the table of waits is found', async (_, fault) => {
  const ledger = await aLedger()
  const stream = await ledger.run([started(), waiting])
  expect(await judge(ledger)).toEqual([])
  await ledger.sql(fault)
  expect(await judge(ledger)).toContainEqual({ id: 'V4', stream, seq: null })
})

test('[V4] a wait of an ended run that is still in the table is found', async () => {
  const ledger = await aLedger()
  const stream = await ledger.run([started(), waiting])
  await ledger.run([started(), waiting, fact('run.completed')])
  await ledger.sql('update wait set stream = 2')
  expect(await judge(ledger)).toHaveLength(4)
  expect(await judge(ledger)).toContainEqual({ id: 'V4', stream, seq: null })
})

test('a wait for all types needs a row for each type that has not come, and may keep the other rows', async () => {
  const ledger = await aLedger()
  const sequence = await ledger.event({ type: 'mail.read' })
  const wait = aWait({ mode: 'all', types: ['mail.read', 'mail.lost'], base: 0 })
  const received = fact('wait.received', { event: { type: 'mail.read', sequence } })
  const stream = await ledger.run([started(), fact('wait.opened', { wait }), received])
  expect(await judge(ledger)).toEqual([])
  await ledger.sql("insert into wait values (1, 'mail', 'mail.read', '', '')")
  expect(await judge(ledger)).toEqual([])
  await ledger.sql("delete from wait where type = 'mail.lost'")
  expect(await judge(ledger)).toEqual([{ id: 'V4', stream, seq: null }])
})

test('a run that is being cancelled needs no rows for its waits', async () => {
  const ledger = await aLedger()
  await ledger.run([started(), waiting, fact('run.cancel_requested')], { wakeAt: 10 })
  await ledger.sql('delete from wait')
  expect(await judge(ledger)).toEqual([])
})

test.each<readonly [string, RunFact, number | null]>([
  ['never', sleeping, null],
  ['after its timer', sleeping, FAR + 1],
  ['at no instant that it knows', sleeping, FAR - 1],
  ['never, though its wait has a limit', fact('wait.opened', { wait: aWait({ timeoutAt: FAR }) }), null],
  ['never, though a retry is due', fact('step.retry_scheduled', { wakeAt: FAR }), null],
  ['never, though its retry is due', fact('run.retry_scheduled', { wakeAt: FAR }), null],
])('[V4] a run that is to wake %s is found', async (_, open, wakeAt) => {
  expect(await judged([open], { wakeAt })).toContain('V4')
})

test('[V4] a run without a wake for its deadline is found', async () => {
  const ledger = await aLedger()
  const stream = await ledger.run([started({ deadlineAt: FAR }), waiting], { wakeAt: null })
  expect(await judge(ledger)).toEqual([{ id: 'V4', stream, seq: null }])
})

test('a run may be due at once for a reason that no fact names', async () => {
  expect(await judged([sleeping], { wakeAt: 5 })).toEqual([])
})

test('the wake of a run that a worker holds is not checked', async () => {
  expect(await judged([sleeping], { lease: 'wrk-1', wakeAt: null })).toEqual([])
})

test.each<readonly [string, readonly RunFact[]]>([
  ['that has done nothing', []],
  ['between two steps', [fact('step.completed')]],
  ['with an effect under way', [fact('step.intended')]],
  ['that is being cancelled and has no child', [waiting, fact('run.cancel_requested')]],
])('[V13] a run %s, without a lease and a wake, is found', async (_, facts) => {
  expect(await judged(facts, { wakeAt: null })).toEqual(['V13'])
})

test.each<readonly [string, RunFact]>([
  ['an event', waiting],
  ['a person', unasked()],
])('a run that waits for %s needs no wake', async (_, open) => {
  expect(await judged([open], { wakeAt: null })).toEqual([])
})

test('[V13] a run that waits for a child that does not exist is found', async () => {
  const ledger = await aLedger()
  const stream = await ledger.run([started(), fact('child.started', { child: CHILD })])
  expect(await judge(ledger)).toEqual([{ id: 'V13', stream, seq: 1 }])
})

test("[V13] a run that waits for another run's child is found", async () => {
  const ledger = await aLedger()
  const child = await ledger.run([started(), waiting])
  const stream = await ledger.run([started(), fact('child.started', { child })])
  expect(await judge(ledger)).toEqual([{ id: 'V13', stream, seq: 1 }])
})

test.each([
  ['sleeps on', { wakeAt: null }, ['V13']],
  ['is due', { wakeAt: 20 }, []],
  ['is held', { lease: 'wrk-1', wakeAt: null }, []],
] as const)(
  '[V13] a parent that %s when its child has ended is found unless it is due or held',
  async (_, options, expected) => {
    const ledger = await aLedger()
    const [parent, child] = [ledger.newRun(), ledger.newRun()]
    await ledger.run([started(), fact('child.started', { child })], { id: parent, ...options })
    await ledger.run([started(), fact('run.completed')], { id: child, parent })
    expect((await judge(ledger)).map(({ id }) => id)).toEqual(expected)
  },
)

test('[V13] a cancelled run waits for its children, and for nothing else', async () => {
  const ledger = await aLedger()
  const [parent, child] = [ledger.newRun(), ledger.newRun()]
  await ledger.run([started(), fact('child.started', { child }), fact('run.cancel_requested')], {
    id: parent,
    wakeAt: null,
  })
  await ledger.run([started(), sleeping], { id: child, parent })
  expect(await judge(ledger)).toEqual([])
})
