/** Sequence numbers, hashes, time and epochs along a stream, each with one planted fault. */
import { expect, test } from 'vitest'
import type { RunId } from '#model/kernel/ids.ts'
import { aLedger, judge } from '#test/support/judged.ts'
import type { LedgerByHand } from '#test/support/stores/ledger-by-hand.ts'
import { fact, started } from '#test/support/stories/run-story.ts'

const finished = [started(), fact('step.completed', { at: 20 }), fact('run.completed', { at: 30 })]
const aRun = (ledger: LedgerByHand): Promise<RunId> => ledger.run(finished)

test('[V2] a deleted fact leaves a gap that is found', async () => {
  const ledger = await aLedger()
  const stream = await aRun(ledger)
  await ledger.sql('delete from fact where seq = 1')
  expect(await judge(ledger)).toEqual([
    { id: 'V2', stream, seq: 2 },
    { id: 'V3', stream, seq: 2 },
    { id: 'V2', stream, seq: null },
  ])
})

test('[V2] a deleted last fact is found by the version and the head', async () => {
  const ledger = await aLedger()
  const stream = await aRun(ledger)
  await ledger.sql('delete from fact where seq = 2')
  expect(await judge(ledger)).toEqual(
    expect.arrayContaining([
      { id: 'V2', stream, seq: null },
      { id: 'V3', stream, seq: null },
    ]),
  )
})

test('[V2] a duplicate fact is found when the unique index is gone', async () => {
  const ledger = await aLedger()
  const stream = await aRun(ledger)
  await ledger.sql('drop index fact_address; insert into fact select * from fact where seq = 1')
  expect(await judge(ledger)).toContainEqual({ id: 'V2', stream, seq: 1 })
})

test('[V2] facts and waits of a stream that does not exist are found', async () => {
  const ledger = await aLedger()
  await aRun(ledger)
  await ledger.sql("delete from stream; insert into wait values (1, 'step', 'order.paid', '', '')")
  expect(await judge(ledger)).toEqual([
    { id: 'V2', stream: null, seq: null },
    { id: 'V2', stream: null, seq: null },
  ])
})

test('[V3] one changed byte of a body is found, at its fact', async () => {
  const ledger = await aLedger()
  const stream = await aRun(ledger)
  await ledger.sql(`update fact set body = replace(body, '"ok"', '"oh"') where seq = 1`)
  expect(await judge(ledger)).toEqual([{ id: 'V3', stream, seq: 1 }])
})

test.each([
  ["type = 'step.late_result'", 'type'],
  ['recorded_at = 21', 'time'],
])('[V3] a changed %s is found', async (change) => {
  const ledger = await aLedger()
  const stream = await aRun(ledger)
  await ledger.sql(`update fact set ${change} where seq = 1`)
  expect(await judge(ledger)).toEqual([{ id: 'V3', stream, seq: 1 }])
})

test('[V3] facts that were moved to another run are found', async () => {
  const ledger = await aLedger()
  const [one, other] = [await aRun(ledger), await aRun(ledger)]
  await ledger.sql('drop index fact_address; update fact set stream = 3 - stream')
  const verdict = await judge(ledger)
  // Three facts and the head of each.
  expect(verdict.filter(({ stream }) => stream === one).map(({ id }) => id)).toEqual(['V3', 'V3', 'V3', 'V3'])
  expect(verdict.filter(({ stream }) => stream === other).map(({ id }) => id)).toEqual(['V3', 'V3', 'V3', 'V3'])
})

test('[V3] a head that is not the hash of the last fact is found', async () => {
  const ledger = await aLedger()
  const stream = await aRun(ledger)
  await ledger.sql("update stream set head_hash = ''")
  expect(await judge(ledger)).toEqual([{ id: 'V3', stream, seq: null }])
})

/** A run that a worker holds: its row was written with its first fact and has not been updated since. */
const heldRun = async (ledger: LedgerByHand): Promise<RunId> => {
  const stream = await ledger.run([started(), fact('step.completed', { at: 20 })], { lease: '1', status: 'running' })
  await ledger.sql('update stream set version = 1, head_hash = (select hash from fact where seq = 0)')
  return stream
}

test('the row of a held run may lag behind its facts', async () => {
  const ledger = await aLedger()
  await heldRun(ledger)
  expect(await judge(ledger)).toEqual([])
})

test('[V3] the row of a held run must have the hash of the fact at its version', async () => {
  const ledger = await aLedger()
  const stream = await heldRun(ledger)
  await ledger.sql('update stream set head_hash = (select hash from fact where seq = 1)')
  expect(await judge(ledger)).toEqual([{ id: 'V3', stream, seq: null }])
})

test('[V2] the row of a held run must not count facts that do not exist', async () => {
  const ledger = await aLedger()
  const stream = await heldRun(ledger)
  await ledger.sql('update stream set version = 3')
  expect(await judge(ledger)).toContainEqual({ id: 'V2', stream, seq: null })
})

test('[V2] the row of a run without a lease must count every fact', async () => {
  const ledger = await aLedger()
  const stream = await heldRun(ledger)
  await ledger.sql('update stream set lease = null, wake_at = 0')
  expect(await judge(ledger)).toEqual([
    { id: 'V2', stream, seq: null },
    { id: 'V3', stream, seq: null },
  ])
})

test('[V6] time that goes backwards along a run is found', async () => {
  const ledger = await aLedger()
  const stream = await ledger.run([started(), fact('step.completed', { at: 30 }), fact('run.completed', { at: 29 })])
  expect(await judge(ledger)).toEqual([{ id: 'V6', stream, seq: 2 }])
})

test('[V12] an epoch that falls is found', async () => {
  const ledger = await aLedger()
  const stream = await ledger.run(finished, { epoch: 4 })
  await ledger.sql('update fact set epoch = 3 where seq = 1')
  expect(await judge(ledger)).toEqual([{ id: 'V12', stream, seq: 1 }])
})

test('[V12] a fact with a later epoch than its run is found', async () => {
  const ledger = await aLedger()
  const stream = await ledger.run(finished, { epoch: 4 })
  await ledger.sql('update stream set epoch = 3')
  expect(await judge(ledger)).toEqual([{ id: 'V12', stream, seq: null }])
})

test('[V3] a missing blob is found, at the fact that names it', async () => {
  const ledger = await aLedger()
  const result = { blob: await ledger.blob('"large"'), bytes: 7 }
  const stream = await ledger.run([started(), fact('step.completed', { result }), fact('run.completed')])
  expect(await judge(ledger)).toEqual([])
  await ledger.sql('delete from blob')
  expect(await judge(ledger)).toEqual([{ id: 'V3', stream, seq: 1 }])
})

test('[V3] a blob whose text was changed is found', async () => {
  const ledger = await aLedger()
  await ledger.blob('"large"')
  await ledger.sql('update blob set body = \'"Large"\'')
  expect(await judge(ledger)).toEqual([{ id: 'V3', stream: null, seq: null }])
})

test('a value of a user that looks like a reference to a blob is not taken for one', async () => {
  const ledger = await aLedger()
  const result = { value: { blob: 'no such blob', bytes: 1 } }
  await ledger.run([started(), fact('step.completed', { result }), fact('run.completed')])
  expect(await judge(ledger)).toEqual([])
})

test('every member of a fact that can name a blob is checked', async () => {
  const ledger = await aLedger()
  const missing = { blob: 'missing', bytes: 1 }
  const child = ledger.newRun()
  await ledger.run([
    started({ input: { kind: 'given', payload: missing } }),
    fact('step.intended', { step: 'mail' }),
    fact('step.uncertain', { step: 'mail' }),
    fact('step.late_result', { step: 'mail', result: missing }),
    fact('step.resolved', { step: 'mail', result: missing }),
    fact('child.started', { step: 'call', child }),
    fact('child.ended', { step: 'call', child, end: { kind: 'done', result: missing } }),
    fact('run.completed', { output: missing }),
  ])
  const verdict = await judge(ledger)
  expect(verdict.map(({ id, seq }) => [id, seq])).toEqual([0, 3, 4, 6, 7].map((seq) => ['V3', seq]))
})
