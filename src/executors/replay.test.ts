/** Handler code entered on the record of a run: what it asks for, and that nothing is performed. */
import { expect, test } from 'vitest'
import { DEFAULT_RETRY } from '#model/flow/policies/retry.ts'
import { LOCAL_TENANT, type RunId } from '#model/kernel/ids.ts'
import type { Entry, StepPort } from '#ports/step-port.ts'
import { type Pause, type RecordedStep, replay } from './replay.ts'

const pause: Pause = async (times) => {
  await new Promise((resolve) => setImmediate(resolve))
  if (times > 10) return 'give up'
  return times > 3 ? 'suppose' : 'wait'
}

const performed: string[] = []
const step = (gate: StepPort, name: string): Promise<unknown> =>
  gate.run({ step: name, effect: 'idempotent', retry: DEFAULT_RETRY, timeoutMs: 1, body: () => performed.push(name) })

const done = (value: number): RecordedStep => ({ kind: 'done', value, once: false })

const play = (steps: Readonly<Record<string, RecordedStep>>, code: (entry: Entry) => Promise<unknown>) =>
  replay(
    {
      ...{
        id: 'run_1' as RunId,
        tenant: LOCAL_TENANT,
        attempt: 1,
        input: null,
        event: null,
        events: [],
        schedule: null,
      },
      steps: new Map(Object.entries(steps)),
    },
    { enter: code, errors: (name, { message }) => new Error(`${name}: ${message}`), pause },
  )

test('replay-1: recorded steps are answered, other steps are not performed', async () => {
  const seen: unknown[] = []
  const { unclaimed, fresh } = await play({ a: done(1), b: { kind: 'open' } }, async ({ gate }) => {
    seen.push(await step(gate, 'a'))
    await Promise.all([step(gate, 'b'), step(gate, 'c')])
  })
  expect([seen, unclaimed, [...fresh.keys()], performed]).toEqual([[1], [], ['c'], []])
})

test('replay-2: code that reads a document is not judged by the steps it skips', async () => {
  const { unclaimed, reads } = await play({ a: done(1) }, async (entry) => entry.document('orders', '1'))
  expect([unclaimed, reads]).toEqual([[], 'documents'])
})

test('replay-3: a renamed step is reported with the steps after it; an added step loses nothing', async () => {
  const renamed = await play({ a: done(1), b: done(2) }, async ({ gate }) => {
    await step(gate, 'A')
    await step(gate, 'b')
  })
  expect([renamed.unclaimed, renamed.supposed]).toEqual([['a'], ['A']])
  const more = await play({ a: done(1), b: { kind: 'open' } }, async ({ gate }) => {
    for (const name of ['new', 'a', 'newer', 'b']) await step(gate, name)
  })
  expect(more.unclaimed).toEqual([])
})

test('replay-3: code that loops over new steps is given up', async () => {
  const { unclaimed } = await play({ a: done(1) }, async ({ gate }) => {
    for (let n = 0; ; n++) await step(gate, `n${n}`)
  })
  expect(unclaimed).toEqual(['a'])
})
