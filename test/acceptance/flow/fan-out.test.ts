/** A run that starts many children at once and gathers their answers: what that reads, counted. */
import { expect, test } from 'vitest'
import { fn } from '#executors/workflow/function.ts'
import { onEveryStore } from '#test/support/stores/stores.ts'
import { startTestSystem, type TestStore } from '#testing/system.ts'

const family = {
  name: 'family',
  events: {},
  functions: [
    fn<{ readonly n: number }>('child', {}, async ({ input, step }) => {
      if (input.n === 0) await step.sleep('late', '1h')
      return input.n
    }),
    fn<{ readonly from: number; readonly to: number }>('gather', {}, async ({ input, step }) => {
      const size = input.to - input.from
      const answers = Array.from({ length: size }, (_, i) =>
        step.invoke('child', 'child', { n: input.from + i }, { key: `${i}` }),
      )
      return (await Promise.all(answers)).length
    }),
  ],
}

/** A store that counts the streams and facts that are loaded, and the calls for them. */
const counting = (place: TestStore) => {
  const read = { calls: 0, streams: 0, facts: 0 }
  const open: TestStore['open'] = async (clock) => {
    const store = await place.open(clock)
    const { ledger } = store
    const load: typeof ledger.load = async (streams, options) => {
      const records = await ledger.load(streams, options)
      read.calls += 1
      read.streams += streams.length
      for (const record of records) read.facts += record?.facts.length ?? 0
      return records
    }
    const counted: typeof ledger = {
      load,
      append: (batch) => ledger.append(batch),
      events: (query) => ledger.events(query),
      claim: (request) => ledger.claim(request),
      beat: (request) => ledger.beat(request),
      retire: (worker, now) => ledger.retire(worker, now),
      close: () => ledger.close(),
    }
    return { ...store, ledger: counted }
  }
  return { read, place: { ...place, open } }
}

onEveryStore('fan-out', (store) => {
  test('wake-coalescer-1: [C1] gathering 1,200 children reads each of them a few times, and many at once (13.2.4)', async () => {
    const { read, place } = counting(store())
    const system = await startTestSystem(family, place)
    const children = 1_200
    const run = await system.start('gather', { from: 1, to: children + 1 })
    await system.settle()
    expect(await system.look(run)).toMatchObject({ status: 'success', output: children })
    expect(read.streams).toBeLessThan(6 * children)
    expect(read.facts).toBeLessThan(8 * children)
    expect(read.calls).toBeLessThan(children / 10)
    await system.close()
  })

  test('wake-coalescer-1: [C1] the last of 200 children is gathered although it ends an hour after the others', async () => {
    const system = await startTestSystem(family, store())
    const run = await system.start('gather', { from: 0, to: 200 })
    await system.settle()
    expect((await system.look(run)).status).toBe('waiting')
    await system.advance('2h')
    expect(await system.look(run)).toMatchObject({ status: 'success', output: 200 })
    await system.close()
  })
})
