/** Sessions: their chain as of any stream, and checkpoints whose parents are known. */
import { expect, test } from 'vitest'
import type { SessionFact } from '#model/session/session.ts'
import { aLedger, judge } from '#test/support/judged.ts'
import { writeCleanLedger } from '#test/support/stores/clean-ledger.ts'

const created: SessionFact = { type: 'session.created', at: 10, mode: 'interactive', base: null }

const checkpointed = (root: string, id: string, ...parents: readonly string[]): SessionFact => ({
  type: 'session.checkpointed',
  at: 20,
  mode: 'interactive',
  checkpoint: { id, parents, root },
})

test('[V26] a checkpoint with a parent that the session does not know is found', async () => {
  const ledger = await aLedger()
  const root = await ledger.blob('{}')
  const stream = await ledger.session([created, checkpointed(root, 'cp-1'), checkpointed(root, 'cp-2', 'cp-0')])
  expect(await judge(ledger)).toEqual([{ id: 'V26', stream, seq: 2 }])
})

test('[V26] a checkpoint that is made twice is found', async () => {
  const ledger = await aLedger()
  const root = await ledger.blob('{}')
  const stream = await ledger.session([created, checkpointed(root, 'cp-1'), checkpointed(root, 'cp-1')])
  expect(await judge(ledger)).toEqual([{ id: 'V26', stream, seq: 2 }])
})

test('[V26] a checkpoint that cannot be read is found', async () => {
  const ledger = await aLedger()
  const root = await ledger.blob('{}')
  const stream = await ledger.session([created, checkpointed(root, 'cp-1')])
  await ledger.sql("update fact set body = '{}' where seq = 1")
  expect(await judge(ledger)).toContainEqual({ id: 'V26', stream, seq: 1 })
})

test('[V4] a fact of a session that is not JSON is found', async () => {
  const ledger = await aLedger()
  const stream = await ledger.session([created])
  await ledger.sql("update fact set body = '{'")
  expect(await judge(ledger)).toContainEqual({ id: 'V4', stream, seq: 0 })
})

test('[V3] a checkpoint whose document does not exist is found, also the one that a fork begins with', async () => {
  const ledger = await aLedger()
  const stream = await ledger.session([created, checkpointed('gone', 'cp-1')])
  const base = { session: stream, checkpoint: { id: 'cp-1', parents: [], root: 'gone' } }
  const fork = await ledger.session([{ ...created, base }])
  expect(await judge(ledger)).toEqual([
    { id: 'V3', stream, seq: 1 },
    { id: 'V3', stream: fork, seq: 0 },
  ])
})

test.each([
  ['V2', 'delete from fact where seq = 1 and stream = 10'],
  ['V3', "update fact set body = replace(body, 'cp-2', 'cp-9') where stream = 10"],
  ['V6', 'update fact set recorded_at = 5 where seq = 1 and stream = 10'],
  ['V12', 'update fact set epoch = 7 where seq = 1 and stream = 10'],
])('[%s] is checked for sessions, too', async (id, fault) => {
  const ledger = await aLedger()
  const { session } = await writeCleanLedger(ledger)
  await ledger.sql(fault)
  expect(await judge(ledger)).toContainEqual(expect.objectContaining({ id, stream: session }))
})
