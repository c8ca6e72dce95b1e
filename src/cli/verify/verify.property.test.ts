/**
 * The checker against the machine it checks: decisions of the machine have no findings, tampering is found, and no content of a ledger
 * makes the checker throw.
 */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { NOTHING } from '#model/kernel/payload.ts'
import { attemptsOf } from '#model/run/attempt.ts'
import type { LiveRun, RunCommand, RunFact, RunState } from '#model/run/fact.ts'
import { run, wakeAt } from '#model/run/run.ts'
import { digest, LedgerByHand, onSqlite, type RunOptions } from '#test/support/stores/ledger-by-hand.ts'
import { anyCommand, anyHistory, STEPS, take } from '#test/support/stories/run-arbitrary.ts'
import { aStart, CHILD, command, fact, OTHER_CHILD, started, TASK } from '#test/support/stories/run-story.ts'
import type { Report } from './report.ts'
import { verifyLedger } from './verify.ts'

const BLOB = '"the large value that every blob of these walks holds"'
/** One type per sequence, so that every event that a walk receives can be written. */
const TYPES = ['x', 'y', 'z']
const typeOf = (sequence: number): string => TYPES[sequence % TYPES.length] ?? ''

const judged = async (write: (ledger: LedgerByHand) => Promise<void>, now?: number): Promise<Report> => {
  const ledger = new LedgerByHand(await onSqlite())
  try {
    await write(ledger)
    return await verifyLedger(ledger.target, now === undefined ? {} : { now })
  } finally {
    await ledger.close()
  }
}

const isTooEarly = (live: LiveRun, step: string): boolean => {
  const open = live.open.get(step)
  return open?.kind === 'retrying' && open.wakeAt !== null
}

/** The command as the engine would send it: the next attempt, the step's own key, nothing before its time. Null: the engine would not send it. */
const asEngine = (state: RunState, drawn: RunCommand): RunCommand | null => {
  if (state.kind !== 'live') return drawn
  switch (drawn.type) {
    case 'complete_step':
      return isTooEarly(state, drawn.step) ? null : { ...drawn, attempt: attemptsOf(state, drawn.step) + 1, events: [] }
    case 'fail_step':
      return isTooEarly(state, drawn.step) ? null : { ...drawn, attempt: attemptsOf(state, drawn.step) + 1 }
    case 'intend_step':
      return isTooEarly(state, drawn.step) ? null : { ...drawn, effectKey: `key-${drawn.step}` }
    case 'finish_run':
      return { ...drawn, events: [] }
    case 'reuse_step':
      // A result that exists in the run that it names.
      return { ...drawn, seq: STEPS.indexOf(drawn.step) + 1, settled: { kind: 'done', result: NOTHING } }
    case 'open_wait':
      // Only the engine can evaluate a condition, so waits with one are not compared with the events.
      return { ...drawn, wait: { ...drawn.wait, condition: 'true' } }
    case 'receive_event':
      return drawn.event.sequence > 0 && drawn.event.type === typeOf(drawn.event.sequence) ? drawn : null
    default:
      return drawn
  }
}

interface Walk {
  readonly facts: readonly RunFact[]
  readonly state: RunState
  readonly now: number
}

const walk = (commands: readonly (readonly [RunCommand, number])[]): Walk => {
  let { facts, after: state } = take(run.initial, command('start_run', { now: 0, start: aStart({ deadlineAt: 100 }) }))
  let now = 0
  for (const [drawn, elapsed] of commands) {
    now += elapsed
    const sent = asEngine(state, { ...drawn, now })
    if (sent === null) continue
    const turn = take(state, sent)
    facts = [...facts, ...turn.facts]
    state = turn.after
  }
  return { facts, state, now }
}

const anyLawfulWalk = fc
  .array(fc.tuple(anyCommand, fc.integer({ min: 0, max: 5 })), { maxLength: 40, size: 'max' })
  .map(walk)

/** A run that waits for something has no lease; a run that waits for nothing is held by a worker. */
const holding = (state: RunState): RunOptions => {
  if (state.kind !== 'live') return {}
  const kinds = state.cancel === null ? ['waiting', 'calling', 'uncertain'] : ['calling']
  const isParked = wakeAt(state) !== null || state.open.some((step) => kinds.includes(step.kind))
  return isParked ? {} : { lease: 'wrk-1', wakeAt: null }
}

/** The results that a walk may reuse from another run. */
const taken = STEPS.map((step) => fact('step.completed', { step, result: NOTHING }))

/** Every walk was drawn with the same two children, the same keys and the same blob; in a ledger each needs its own. */
const writeWalk = async (ledger: LedgerByHand, { facts, state }: Walk): Promise<void> => {
  const [id, one, other] = [ledger.newRun(), ledger.newRun(), ledger.newRun()]
  const text = JSON.stringify(facts)
    .replaceAll(CHILD, one)
    .replaceAll(OTHER_CHILD, other)
    .replaceAll('"key-', `"${id}-`)
    // The tasks of uncertain steps are not written here, because tasks have streams of their own.
    .replaceAll(`,"task":"${TASK}"`, '')
  await ledger.run(JSON.parse(text.replaceAll('"sha256"', JSON.stringify(digest(BLOB)))), { id, ...holding(state) })
  for (const child of [one, other])
    await ledger.run([started(), ...taken], { id: child, parent: id, lease: 'wrk-1', wakeAt: null })
}

test('decisions of the machine violate no invariant', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(anyLawfulWalk, { minLength: 1, maxLength: 20, size: 'max' }), async (walks) => {
      const report = await judged(
        async (ledger) => {
          await ledger.blob(BLOB)
          for (let sequence = 1; sequence <= 8; sequence++) await ledger.event({ type: typeOf(sequence) })
          for (const lawful of walks) await writeWalk(ledger, lawful)
        },
        Math.min(...walks.map(({ now }) => now)),
      )
      expect(report.violations).toEqual([])
    }),
    { numRuns: 20 },
  )
}, 60_000)

test('the checker agrees with the machine on the status and the waits of any history, valid or not', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(anyHistory, { minLength: 1, maxLength: 20, size: 'max' }), async (histories) => {
      const report = await judged(async (ledger) => {
        for (const history of histories) await ledger.run(history, { lease: 'wrk-1', wakeAt: null })
      })
      expect(report.violations.filter(({ id, seq }) => id === 'V4' && seq === null)).toEqual([])
    }),
    { numRuns: 20 },
  )
}, 60_000)

const finished = [started(), fact('step.completed', { at: 20 }), fact('run.completed', { at: 30 })]

test('[V3] any change to any character of a fact is found', async () => {
  const target = fc.record({ seq: fc.nat(2), at: fc.nat(), by: fc.integer({ min: 1, max: 25 }) })
  await fc.assert(
    fc.asyncProperty(target, async ({ seq, at, by }) => {
      const report = await judged(async (ledger) => {
        await ledger.run(finished)
        const place = `1 + ${at} % length(body)`
        const other = `char(unicode(substr(body, ${place}, 1)) + ${by})`
        await ledger.sql(
          `update fact set body = substr(body, 1, ${at} % length(body)) || ${other} || substr(body, ${place} + 1) where seq = ${seq}`,
        )
      })
      expect(report.violations).toContainEqual(expect.objectContaining({ id: 'V3', seq }))
    }),
    { numRuns: 40 },
  )
}, 60_000)

test('verify-2: no text in a body makes the checker throw', async () => {
  const text = fc.oneof(fc.json(), fc.string(), fc.string({ unit: 'binary' }))
  await fc.assert(
    fc.asyncProperty(text, fc.constantFrom('fact', 'event', 'blob'), async (body, table) => {
      const column = { fact: 'body', event: 'data', blob: 'body' }[table]
      const report = await judged(async (ledger) => {
        await ledger.event()
        await ledger.blob(BLOB)
        await ledger.run(finished)
        await ledger.sql(`update ${table} set ${column} = x'${Buffer.from(body).toString('hex')}'`)
      })
      expect(report.runs).toBe(1)
    }),
    { numRuns: 40 },
  )
}, 60_000)
