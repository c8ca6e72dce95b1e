/** The ledger against evidence from clients and the outside world, each with one planted fault. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { verifyLedger } from '#cli/verify/verify.ts'
import type { RunId } from '#model/kernel/ids.ts'
import type { RunFact } from '#model/run/fact.ts'
import { aLedger, judge } from '#test/support/judged.ts'
import type { LedgerByHand } from '#test/support/stores/ledger-by-hand.ts'
import { fact, started } from '#test/support/stories/run-story.ts'
import type { Acknowledgement, EffectEvidence, Evidence } from './evidence.ts'
import { UnreadableLedger } from './source.ts'

const written = (name: string, text: string): string => {
  const folder = mkdtempSync(join(tmpdir(), 'trihand-evidence-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const file = join(folder, name)
  writeFileSync(file, text)
  return file
}

const lines = (entries: readonly object[]): string => entries.map((entry) => `${JSON.stringify(entry)}\n`).join('')
const acks = (...entries: readonly Acknowledgement[]): Evidence => ({ acks: written('acks.jsonl', lines(entries)) })
const world = (...entries: readonly EffectEvidence[]): Evidence => ({ world: written('world.jsonl', lines(entries)) })

const aRun = (ledger: LedgerByHand, ...facts: readonly RunFact[]): Promise<RunId> =>
  ledger.run([started(), ...facts, fact('run.completed', { at: 90 })])

test('[V1] everything acknowledged that exists has no findings', async () => {
  const ledger = await aLedger()
  const sequence = await ledger.event({ id: 'evt-1' })
  const run = await aRun(ledger, fact('step.completed', { step: 'mail' }))
  const evidence = acks(
    { kind: 'event', source: 'test', id: 'evt-1', sequence },
    { kind: 'event', source: 'test', id: 'evt-1', sequence },
    { kind: 'run', run, status: 'queued' },
    { kind: 'run', run, status: 'success' },
    { kind: 'step', run, step: 'mail' },
  )
  const report = await verifyLedger(ledger.target, { evidence })
  expect(report.violations).toEqual([])
  expect(report.checked.V1).toBe(4)
})

test('[V1] a run that failed, was retried and then succeeded may have acknowledged both', async () => {
  const ledger = await aLedger()
  const run = await aRun(ledger, fact('run.failed'), fact('run.retried'))
  const evidence = acks({ kind: 'run', run, status: 'failed' }, { kind: 'run', run, status: 'success' })
  expect(await judge(ledger, { evidence })).toEqual([])
})

test('[V1] an acknowledged event that does not exist, or has another sequence, is found', async () => {
  const ledger = await aLedger()
  const sequence = await ledger.event({ id: 'evt-1' })
  const evidence = acks(
    { kind: 'event', source: 'test', id: 'evt-1', sequence: sequence + 1 },
    { kind: 'event', source: 'test', id: 'evt-2', sequence },
    { kind: 'event', source: 'other', id: 'evt-1', sequence },
  )
  const lost = { id: 'V1', stream: null, seq: null }
  expect(await judge(ledger, { evidence })).toEqual([lost, lost, lost])
})

test('[V1] an acknowledged result that does not exist is found', async () => {
  const ledger = await aLedger()
  const run = await aRun(ledger, fact('step.intended', { step: 'mail' }))
  const evidence = acks({ kind: 'step', run, step: 'mail' }, { kind: 'run', run, status: 'failed' })
  const lost = { id: 'V1', stream: run, seq: null }
  expect(await judge(ledger, { evidence })).toEqual([lost, lost])
})

test('[V1] an acknowledged run that does not exist is found', async () => {
  const ledger = await aLedger()
  const run = ledger.newRun()
  expect(await judge(ledger, { evidence: acks({ kind: 'run', run, status: 'queued' }) })).toEqual([
    { id: 'V1', stream: run, seq: null },
  ])
})

test('an incomplete line at the end of the file is ignored; before the end it is unreadable', async () => {
  const ledger = await aLedger()
  const half = '{"kind":"run","run":"run_'
  expect(await judge(ledger, { evidence: { acks: written('acks.jsonl', half) } })).toEqual([])
  const broken = { acks: written('acks.jsonl', `${half}\n${half}`) }
  await expect(verifyLedger(ledger.target, { evidence: broken })).rejects.toThrow('line 1 is not JSON')
})

test('a missing evidence file is unreadable', async () => {
  const ledger = await aLedger()
  const failure = await verifyLedger(ledger.target, { evidence: { acks: 'no/such/acks.jsonl' } }).catch(
    (error: unknown) => error,
  )
  expect(failure).toBeInstanceOf(UnreadableLedger)
  expect(String(failure)).toContain('no such file')
})

const once = (run: string, changes: Partial<EffectEvidence> = {}): EffectEvidence => ({
  key: 'th1_key',
  run,
  step: 'mail',
  effect: 'once',
  ...changes,
})
const doubted = [fact('step.intended'), fact('step.uncertain')]

test.each<readonly [string, number, readonly RunFact[]]>([
  ['was intended', 1, [fact('step.intended')]],
  ['was run again once', 2, [...doubted, fact('step.resolved', { verdict: 'run_again' }), fact('step.intended')]],
  [
    'was aborted and then retried by a person',
    2,
    [
      ...doubted,
      fact('step.resolved', { verdict: 'abort' }),
      fact('run.failed'),
      fact('run.retried'),
      fact('step.intended'),
    ],
  ],
  ['was never intended', 0, []],
])('[V10] the effect of a step that %s may happen %i times', async (_, allowed, facts) => {
  const ledger = await aLedger()
  const run = await aRun(ledger, ...facts)
  const happened = (times: number) => world(...Array.from({ length: times }, () => once(run)))
  expect(await judge(ledger, { evidence: happened(allowed) })).toEqual([])
  expect(await judge(ledger, { evidence: happened(allowed + 1) })).toEqual([{ id: 'V10', stream: run, seq: null }])
})

test('an idempotent effect may be performed often, under one key', async () => {
  const ledger = await aLedger()
  const run = await aRun(ledger, fact('step.completed'))
  const effect = once(run, { effect: 'idempotent' })
  expect(await judge(ledger, { evidence: world(effect, effect, effect) })).toEqual([])
  const other = { ...effect, key: 'th1_other' }
  expect(await judge(ledger, { evidence: world(effect, other) })).toEqual([{ id: 'V11', stream: run, seq: null }])
})

test('[V11] an effect under another key than the intended one is found', async () => {
  const ledger = await aLedger()
  const run = await aRun(ledger, fact('step.intended'))
  expect(await judge(ledger, { evidence: world(once(run, { key: 'th1_other' })) })).toEqual([
    { id: 'V11', stream: run, seq: null },
  ])
})

test('[V11] one key for effects of two runs is found', async () => {
  const ledger = await aLedger()
  const [one, other] = [await aRun(ledger, fact('step.completed')), await aRun(ledger, fact('step.completed'))]
  const evidence = world(once(one, { effect: 'idempotent' }), once(other, { effect: 'idempotent' }))
  expect(await judge(ledger, { evidence })).toEqual([{ id: 'V11', stream: null, seq: null }])
})

test('[V1] an effect of a run that is not in the ledger is found', async () => {
  const ledger = await aLedger()
  const run = ledger.newRun()
  expect(await judge(ledger, { evidence: world(once(run)) })).toEqual([{ id: 'V1', stream: run, seq: null }])
})
