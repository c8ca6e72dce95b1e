/** Attempts, results and effect keys of steps, each with one planted fault. */
import { expect, test } from 'vitest'
import type { Invariant } from '#cli/verify/report.ts'
import type { RunFact } from '#model/run/fact.ts'
import { aLedger, judge } from '#test/support/judged.ts'
import { aWait, CHILD, fact, OTHER_CHILD, started } from '#test/support/stories/run-story.ts'

const judged = async (...facts: readonly RunFact[]): Promise<readonly (readonly [Invariant, number | null])[]> => {
  const ledger = await aLedger()
  await ledger.run([started(), ...facts, fact('run.quarantined', { at: 900 })])
  return (await judge(ledger)).map(({ id, seq }) => [id, seq])
}

test.each<readonly [string, readonly RunFact[]]>([
  ['completed twice', [fact('step.completed'), fact('step.completed')]],
  ['completed after it failed', [fact('step.failed'), fact('step.completed')]],
  ['intended after it was completed', [fact('step.completed'), fact('step.intended')]],
  ['waited for after it was completed', [fact('step.completed'), fact('wait.opened')]],
  ['set twice', [fact('timer.set'), fact('timer.set')]],
  ['opened over a timer', [fact('timer.set'), fact('wait.opened')]],
  ['called twice', [fact('child.started', { child: CHILD }), fact('child.started', { child: OTHER_CHILD })]],
])('[V7] a step that is %s is found', async (_, facts) => {
  expect(await judged(...facts)).toEqual([['V7', 2]])
})

test.each(['child.ended', 'step.resolved'] as const)(
  '[V7] %s for a step that has not asked for it is found',
  async (type) => {
    expect(await judged(fact(type))).toEqual([['V7', 1]])
  },
)

test('[V7] a failed step and a failed child may have a second result after a retry, a finished one may not', async () => {
  const facts = [
    fact('step.failed', { step: 'fetch' }),
    fact('child.started', { step: 'call' }),
    fact('child.ended', { step: 'call', end: { kind: 'failed', error: { code: 'CHILD_FAILED', message: '' } } }),
    fact('step.completed', { step: 'mail' }),
    fact('run.failed'),
    fact('run.retried'),
    fact('step.completed', { step: 'fetch' }),
    fact('child.started', { step: 'call', child: OTHER_CHILD }),
    fact('child.ended', { step: 'call', child: OTHER_CHILD }),
  ]
  expect(await judged(...facts)).toEqual([])
  expect(await judged(...facts, fact('step.completed', { step: 'mail' }))).toEqual([['V7', 10]])
})

test.each<readonly [string, readonly RunFact[]]>([
  ['begins at two', [fact('step.completed', { attempt: 2 })]],
  ['is counted twice', [fact('step.retry_scheduled', { wakeAt: 10 }), fact('step.completed', { attempt: 1 })]],
  ['skips a number', [fact('step.retry_scheduled', { wakeAt: 10 }), fact('step.failed', { attempt: 3 })]],
  ['is not the intended one', [fact('step.intended'), fact('step.completed', { attempt: 2 })]],
])('[V9] an attempt that %s is found', async (_, facts) => {
  expect(await judged(...facts)).toEqual([['V9', facts.length]])
})

test('[V9] an attempt before its delay is over is found', async () => {
  const facts = [fact('step.retry_scheduled', { at: 10, wakeAt: 60 }), fact('step.completed', { at: 59, attempt: 2 })]
  expect(await judged(...facts)).toEqual([['V9', 2]])
})

test.each([fact('step.retry_scheduled', { at: 10, wakeAt: 9 }), fact('run.retry_scheduled', { at: 10, wakeAt: 9 })])(
  '[V9] a retry into the past is found: $type',
  async (retry) => {
    expect(await judged(retry)).toEqual([['V9', 1]])
  },
)

test('[V9] the attempts of the run itself are counted', async () => {
  expect(await judged(fact('run.retry_scheduled', { attempt: 2 }))).toEqual([['V9', 1]])
})

test('[V9] after run_again the attempts are counted from one again', async () => {
  const doubted = [fact('step.intended'), fact('step.uncertain'), fact('step.resolved', { verdict: 'run_again' })]
  expect(await judged(...doubted, fact('step.intended', { attempt: 1 }))).toEqual([])
  expect(await judged(...doubted, fact('step.intended', { attempt: 2 }))).toEqual([['V9', 4]])
})

test.each<readonly [string, readonly RunFact[]]>([
  ['at work', [fact('step.intended')]],
  ['uncertain', [fact('step.intended'), fact('step.uncertain')]],
])('[V10] a second intent while the first is %s is found', async (_, facts) => {
  expect(await judged(...facts, fact('step.intended'))).toEqual([['V10', facts.length + 1]])
})

test('[V10] a second intent after a definite failure is allowed', async () => {
  const failed = [fact('step.intended'), fact('step.retry_scheduled', { wakeAt: 10 })]
  expect(await judged(...failed, fact('step.intended', { attempt: 2 }))).toEqual([])
})

test.each([fact('step.completed'), fact('step.failed'), fact('step.retry_scheduled')])(
  '[V10] $type for an uncertain step is found',
  async (settling) => {
    expect(await judged(fact('step.intended'), fact('step.uncertain'), settling)).toEqual([['V10', 3]])
  },
)

test('[V11] a step whose effect key changes is found', async () => {
  const again = [fact('step.intended', { effectKey: 'one' }), fact('step.retry_scheduled', { wakeAt: 10 })]
  expect(await judged(...again, fact('step.intended', { attempt: 2, effectKey: 'two' }))).toEqual([['V11', 3]])
})

test('[V11] two steps of a run with one effect key are found', async () => {
  expect(await judged(fact('step.intended', { step: 'mail' }), fact('step.intended', { step: 'pay' }))).toEqual([
    ['V11', 2],
  ])
})

test('[V11] steps of two runs with one effect key are found', async () => {
  const ledger = await aLedger()
  const facts = [started(), fact('step.intended'), fact('step.completed'), fact('run.completed')]
  await ledger.run(facts)
  const stream = await ledger.run(facts)
  expect(await judge(ledger)).toEqual([{ id: 'V11', stream, seq: 1 }])
})

test('[V17] an event received by a run that did not wait for it is found', async () => {
  const ledger = await aLedger()
  const sequence = await ledger.event({ type: 'mail.read' })
  const received = (type: string, at: number) => fact('wait.received', { event: { type, sequence: at } })
  const waits = (...facts: readonly RunFact[]) =>
    ledger.run([started(), fact('wait.opened', { wait: aWait({ base: 0 }) }), ...facts, fact('run.completed')])
  await waits(received('mail.read', sequence))
  const wrong = [await waits(received('mail.lost', sequence)), await waits(received('mail.read', 77))]
  const early = await ledger.run([
    started(),
    fact('wait.opened', { wait: aWait({ base: sequence }) }),
    received('mail.read', sequence),
    fact('run.completed'),
  ])
  const verdict = await judge(ledger)
  expect(verdict).toEqual([
    { id: 'V17', stream: wrong[0], seq: 2 },
    { id: 'V17', stream: early, seq: 2 },
    { id: 'V17', stream: wrong[0], seq: 2 },
    { id: 'V17', stream: wrong[1], seq: 2 },
  ])
})
