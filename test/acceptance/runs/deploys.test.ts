/** Deployments with open runs: code that changes, handlers that are removed and return. */
import { expect, test } from 'vitest'
import { SystemIds } from '#adapters/system/ids.ts'
import { fn } from '#executors/workflow/function.ts'
import { normalise, type SystemSource } from '#manifest/define/define.ts'
import { LOCAL_TENANT, type RunId } from '#model/kernel/ids.ts'
import type { RunSummary } from '#ports/reader.ts'
import { answerStep } from '#test/support/step-answer.ts'
import { onEveryStore } from '#test/support/stores/stores.ts'
import { startTestSystem, type TestSystem } from '#testing/system.ts'

const other = fn('other', {}, () => 'other')

const nap = fn('nap', {}, async ({ step }) => {
  await step.sleep('night', '1h')
  return 'slept'
})

const changedNap = fn('nap', {}, async ({ step }) => {
  await step.sleep('night', '1h')
  return 'slept well'
})

const systemOf = (...functions: NonNullable<SystemSource['functions']>): SystemSource => ({ name: 'naps', functions })

const summary = async (system: TestSystem, run: RunId): Promise<RunSummary> => {
  const found = await system.run(() => system.store.reader.run(LOCAL_TENANT, run))
  if (found === null) throw new Error('the run is gone')
  return found
}

onEveryStore('deploys', (store) => {
  test('[N5] a run whose handler was removed waits for a worker that has it, reports that, and continues by itself (13.2.2)', async () => {
    const system = await startTestSystem(systemOf(nap, other), store(), { name: 'ada' })
    const run = await system.start('nap')
    await system.settle()

    await system.crash(systemOf(other))
    await system.advance('2h')
    expect((await system.look(run)).status).toBe('waiting')
    // Workers in tests send a heartbeat when they start, and not again for a month.
    await system.crash(systemOf(other))
    const waiting = await summary(system, run)
    const reason = await system.run(() => system.engine.fleet.lacks(waiting))
    expect(reason).toMatch(/^a worker that has the handler nap: none of 1 running workers has it; .* \(NO_HANDLER\)$/)
    const own = await system.start('other')
    await system.settle()
    expect((await system.look(own)).status).toBe('success')

    await system.crash(systemOf(changedNap))
    await system.advance('1m')
    expect(await system.look(run)).toMatchObject({ status: 'success', output: 'slept well' })
    const [record] = await system.run(() => system.store.ledger.load([run]))
    expect(record?.bornHash).toMatch(/./)
    expect(record?.bornHash).not.toBe(record?.systemHash)
    await system.close()
  })
})

const paying = (name: string, done: string[]) =>
  fn('pay', {}, async ({ step }) => {
    await step.run(name, () => void done.push(name), { effect: 'once' })
    await step.sleep('night', '1h')
    return step.run('thank', () => 'thanked', { effect: 'once' })
  })

onEveryStore('a once step under a new name', (store) => {
  const begun = async (done: string[]) => {
    const system = await startTestSystem(systemOf(paying('charge', done)), store(), { name: 'ada' })
    const run = await system.start('pay')
    await system.settle()
    await system.crash(systemOf(paying('bill', done)))
    await system.advance('2h')
    const open = await system.run(() => system.store.reader.openTasks(LOCAL_TENANT, system.clock.now()))
    return { system, run, asked: open.reduce((sum, { count }) => sum + count, 0) }
  }

  test('[R5] attempt-5: asks a person and is not performed; the decision that it happened lets the run continue (13.2.3)', async () => {
    const done: string[] = []
    const { system, run, asked } = await begun(done)
    expect([done, asked]).toEqual([['charge'], 1])
    await system.run(() => answerStep(system.engine, run, 'bill', { verdict: 'happened', by: 'ana', result: null }))
    await system.settle()
    expect([(await system.look(run)).status, done]).toEqual(['success', ['charge']])
    await system.close()
  })

  test('[R5] attempt-5: is performed once a person says so, and asked about once (13.2.3)', async () => {
    const done: string[] = []
    const { system, run } = await begun(done)
    await system.run(() => answerStep(system.engine, run, 'bill', { verdict: 'run_again', by: 'ana' }))
    await system.advance('1d')
    expect([(await system.look(run)).status, done]).toEqual(['success', ['charge', 'bill']])
    await system.close()
  })
})

onEveryStore('once steps side by side', (store) => {
  test('[R5] attempt-5: a new step is performed, whichever of them the code asks for first (13.2.3)', async () => {
    const done: string[] = []
    const both = fn('both', {}, async ({ step }) => {
      const late = async (): Promise<void> => {
        await step.sleep('night', '1h')
        await step.run('late', () => void done.push('late'), { effect: 'once' })
      }
      const early = async (): Promise<void> => {
        for (const n of ['1', '2', '3']) await step.run('look', () => 'x'.repeat(100_000), { key: n })
        await step.run('early', () => void done.push('early'), { effect: 'once' })
      }
      await Promise.all([late(), early()])
    })
    const system = await startTestSystem(systemOf(both), store(), { name: 'ada' })
    const run = await system.start('both')
    await system.settle()
    await system.crash()
    await system.advance('2h')
    expect([(await system.look(run)).status, done]).toEqual(['success', ['early', 'late']])
    await system.close()
  })
})

test('[N5] the version of a system changes with the code of its functions, and with nothing else (13.2.2)', () => {
  const hashOf = (source: SystemSource): string => normalise(source, (text) => new SystemIds().digest(text)).hash
  expect(hashOf(systemOf(changedNap))).not.toBe(hashOf(systemOf(nap)))
  expect(hashOf(systemOf(nap))).toBe(hashOf(systemOf(nap)))
})
