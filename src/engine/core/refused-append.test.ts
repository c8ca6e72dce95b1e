/** An append that the store refuses for good: its run is quarantined instead of appearing to be at work for ever. */
import { expect, test } from 'vitest'
import { MemoryLedger } from '#adapters/storage/memory/ledger.ts'
import { MemoryStore } from '#adapters/storage/memory/store.ts'
import { fn } from '#executors/workflow/function.ts'
import { TrihandError } from '#model/kernel/errors.ts'
import type { Ledger } from '#ports/ledger.ts'
import { engineOf } from '#test/support/engine.ts'
import { VirtualClock } from '#testing/virtual-clock.ts'

const begin = (refuses: (body: string) => boolean) => {
  const ledger = new MemoryLedger(new MemoryStore())
  let refused = 0
  const strict: Ledger = {
    ...{ load: (...asked) => ledger.load(...asked), events: (query) => ledger.events(query) },
    ...{ claim: (request) => ledger.claim(request), beat: (request) => ledger.beat(request) },
    ...{ retire: (...asked) => ledger.retire(...asked), close: () => ledger.close() },
    append: (batch) => {
      const facts = batch.flatMap(({ writes }) => writes.flatMap((write) => write.facts))
      if (!facts.some(({ body }) => refuses(body))) return ledger.append(batch)
      refused++
      throw new TrihandError('LEDGER_CORRUPT', 'the row cannot be written')
    },
  }
  const clock = new VirtualClock(1_000_000)
  let performed = 0
  const functions = [
    fn('work', {}, async ({ step }) => {
      await step.run('first', () => 'fine')
      return step.run('second', () => {
        performed++
        return 'poison'
      })
    }),
    fn('other', {}, ({ step }) => step.run('only', () => 'fine')),
  ]
  const worker = { leaseTtlMs: 15_000, sweepMs: 1_000, pollMs: 1_000 }
  const engine = engineOf({ ledger: strict, clock, source: { name: 'refused', functions }, worker })
  return { engine, clock, count: () => ({ refused, performed }) }
}

test('active-run-5 commit-9: a run whose append the store refuses for good is quarantined with the reason, and others continue (14.2)', async () => {
  const { engine, clock, count } = begin((body) => body.includes('poison'))
  void engine.start()
  await clock.advance(0)
  const starting = [engine.startRun('work', null), engine.startRun('other', null)] as const
  await clock.advance(0)
  const [work, other] = await Promise.all(starting)
  await clock.advance(10 * 60_000)
  expect(await engine.look(other)).toMatchObject({ status: 'success', output: 'fine' })
  expect(await engine.look(work)).toMatchObject({
    status: 'quarantined',
    error: { code: 'LEDGER_CORRUPT', message: expect.stringContaining('cannot be written') },
  })
  expect(count()).toEqual({ refused: 2, performed: 1 })
})
