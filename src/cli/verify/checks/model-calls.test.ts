/** The index of model replies, with each possible fault. */
import { expect, test } from 'vitest'
import { aLedger, judge } from '#test/support/judged.ts'
import { fact, started } from '#test/support/stories/run-story.ts'

const reply = fact('step.completed', { at: 20, result: { value: { modelUsed: 'm' } } })
const finished = [started(), reply, fact('run.completed', { at: 30 })]
const NOTED = 'insert into model_call select recorded_at, stream, seq from fact where seq = 1'

test('[V4] an indexed reply has no findings', async () => {
  const ledger = await aLedger()
  await ledger.run(finished)
  await ledger.sql(NOTED)
  expect(await judge(ledger)).toEqual([])
})

test('[V4] a reply that is not indexed is found, at its fact', async () => {
  const ledger = await aLedger()
  const stream = await ledger.run(finished)
  expect(await judge(ledger)).toEqual([{ id: 'V4', stream, seq: 1 }])
})

test('[V4] an indexed fact that is not a reply, and one that does not exist, are found', async () => {
  const ledger = await aLedger()
  const stream = await ledger.run(finished)
  await ledger.sql(`${NOTED}; insert into model_call select recorded_at, stream, 2 from fact where seq = 2;
    insert into model_call values (20, 999, 1)`)
  expect(await judge(ledger)).toEqual([
    { id: 'V4', stream, seq: 2 },
    { id: 'V4', stream: null, seq: 1 },
  ])
})

test('[V4] an older ledger without the index is not checked for it', async () => {
  const ledger = await aLedger()
  await ledger.run(finished)
  await ledger.sql('drop table model_call; delete from trihand_migration where version >= 11')
  expect(await judge(ledger)).toEqual([])
})
