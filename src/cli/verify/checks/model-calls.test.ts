/** The list of where replies of models stand, with each of the faults that it could have. */
import { expect, test } from 'vitest'
import { aLedger, judge } from '#test/support/judged.ts'
import { fact, started } from '#test/support/stories/run-story.ts'

const reply = fact('step.completed', { at: 20, result: { value: { modelUsed: 'm' } } })
const finished = [started(), reply, fact('run.completed', { at: 30 })]
const NOTED = 'insert into model_call select recorded_at, stream, seq from fact where seq = 1'

test('[V4] a reply that is listed is as it should be', async () => {
  const ledger = await aLedger()
  await ledger.run(finished)
  await ledger.sql(NOTED)
  expect(await judge(ledger)).toEqual([])
})

test('[V4] a reply that is not listed is found, at its fact', async () => {
  const ledger = await aLedger()
  const stream = await ledger.run(finished)
  expect(await judge(ledger)).toEqual([{ id: 'V4', stream, seq: 1 }])
})

test('[V4] a listed fact that is no reply, and one that does not exist, are found', async () => {
  const ledger = await aLedger()
  const stream = await ledger.run(finished)
  await ledger.sql(`${NOTED}; insert into model_call select recorded_at, stream, 2 from fact where seq = 2;
    insert into model_call values (20, 999, 1)`)
  expect(await judge(ledger)).toEqual([
    { id: 'V4', stream, seq: 2 },
    { id: 'V4', stream: null, seq: 1 },
  ])
})

test('[V4] a ledger of before that list is not asked for it', async () => {
  const ledger = await aLedger()
  await ledger.run(finished)
  await ledger.sql('drop table model_call; delete from trihand_migration where version >= 11')
  expect(await judge(ledger)).toEqual([])
})
