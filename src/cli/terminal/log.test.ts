/** Which events become a line of the log, and at which level. */
import { expect, test } from 'vitest'
import { createTrihand } from '#compose/assemble.ts'
import type { Observer } from '#engine/core/observers.ts'
import { fn } from '#executors/workflow/function.ts'
import { TrihandError } from '#model/kernel/errors.ts'
import { createRedaction } from '#model/kernel/redaction.ts'
import { Log, openLog } from './log.ts'
import type { LogLevel } from './log-level.ts'

const logged = (level: LogLevel) => {
  const lines: Record<string, unknown>[] = []
  return {
    lines,
    log: new Log(
      level,
      (text) => lines.push(JSON.parse(text)),
      () => 0,
    ),
  }
}

const observed = (log: Log): Observer => {
  let observer: Observer | null = null
  log.follow({
    subscribe: (_, ...one) => {
      observer = one[0] as Observer
      return () => {}
    },
  })
  return observer as unknown as Observer
}

let tries = 0
const flaky = fn('mail', { trigger: 'go' }, async ({ step }) => {
  await step.run('send', () => (++tries < 2 ? Promise.reject(new Error('busy')) : 'sent'), {
    retry: { maxAttempts: 2, baseMs: 1 },
  })
})

test('[I5] log-1: a retried step is logged as one line with run, handler, step, attempt and reason (13.2.6)', async () => {
  const { lines, log } = logged('warn')
  const trihand = await createTrihand({
    system: { name: 'post', events: { go: null }, functions: [flaky] },
    database: 'memory:',
  })
  log.follow(trihand)
  const { runs } = await trihand.send({ type: 'go' })
  const run = runs[0] as never
  expect(await trihand.result(run, { wait: '20s' })).toMatchObject({ status: 'success' })
  await trihand.close()
  expect(lines).toEqual([
    {
      ...{ time: '1970-01-01T00:00:00.000Z', level: 'warn', message: 'a step will be retried' },
      ...{ run, handler: 'mail', step: 'send', attempt: 1, next: expect.any(String) },
      ...{ code: expect.any(String), detail: expect.stringContaining('busy') },
    },
  ])
})

test('[I5] a line of the log is one line of JSON without the secrets that the process knows (13.2.6)', () => {
  const written: string[] = []
  const output = { log: (text: string) => written.push(text) }
  const redaction = createRedaction([{ name: 'PAY_KEY', value: 'k3y "with" quotes' }])
  const log = openLog(
    { output, settings: { log: 'warn' } } as never,
    { tasks: { now: 0 }, redact: (text: string) => redaction.text(text) } as never,
  )
  const observer = observed(log)
  observer.failed('claim', new TrihandError('LEDGER_UNAVAILABLE', 'refused:\nk3y "with" quotes'))
  expect(written).toHaveLength(1)
  expect(written[0]).not.toContain('\n')
  expect(JSON.parse(written[0] ?? '')).toMatchObject({ level: 'warn', detail: 'refused:\n[redacted:PAY_KEY]' })
})

test('[I5] log-1: a refused batch, a lost lease and a silent worker are logged as one line each (13.2.6)', () => {
  const { lines, log } = logged('warn')
  const observer = observed(log)
  observer.refused(new TrihandError('LEDGER_UNAVAILABLE', 'away', { outcome: 'unknown' }), 3, 2)
  observer.failed('claim', new TrihandError('LEDGER_UNAVAILABLE', 'away'))
  observer.recovered(4)
  const append = { writes: [{ stream: 'run_1' }] }
  const outcomes = [{ kind: 'conflict', reason: 'epoch' }]
  observer.wrote({ appends: [append], outcomes, ms: 1 } as never)
  expect(
    lines.map(({ level, message, code, sent_again, given_back, leases, stream }) => [
      ...[level, message, code, sent_again, given_back, leases, stream].filter((one) => one !== undefined),
    ]),
  ).toEqual([
    ['warn', 'the ledger refused a batch', 'LEDGER_UNAVAILABLE', 2, 1],
    ['warn', 'the ledger did not answer a worker', 'LEDGER_UNAVAILABLE'],
    ['warn', 'runs of a silent worker were released', 4],
    ['warn', 'a lease was lost: the last work of this process on the run is not recorded', 'run_1'],
  ])
})

test.each<[LogLevel, number]>([
  ['off', 0],
  ['error', 1],
  ['warn', 2],
  ['info', 3],
  ['debug', 4],
])('[I5] TRIHAND_LOG=%s logs its own level and all more severe ones (13.2.6)', (level, count) => {
  const { lines, log } = logged(level)
  log.answered('/api/events', 503, 1)
  log.answered('/api/events', 429, 1)
  log.ready({ isReady: true, checks: {}, reasons: [] })
  log.answered('/api/events', 202, 1)
  expect(lines.length).toBe(count)
})
