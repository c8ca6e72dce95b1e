/** What must hold for tasks, each with one planted fault. */
import { expect, test } from 'vitest'
import type { TaskId } from '#model/kernel/ids.ts'
import type { TaskFact } from '#model/task/fact.ts'
import { aLedger, judge, type Verdict } from '#test/support/judged.ts'
import type { LedgerByHand } from '#test/support/stores/ledger-by-hand.ts'
import { fact, started } from '#test/support/stories/run-story.ts'
import {
  ana,
  aSpec,
  HOUR,
  history,
  open,
  passTime,
  RUN,
  submit,
  to,
  withdraw,
} from '#test/support/stories/task-story.ts'

type FactOf<Type extends TaskFact['type']> = Extract<TaskFact, { readonly type: Type }>

const decided = history(open(), submit('approve'))
const last = <Type extends TaskFact['type']>(facts: readonly TaskFact[]): FactOf<Type> => facts.at(-1) as FactOf<Type>

/** The facts, with changes to the last one. */
const bent = <Type extends TaskFact['type']>(
  facts: readonly TaskFact[],
  change: Partial<FactOf<Type>>,
): readonly TaskFact[] => [...facts.slice(0, -1), { ...last<Type>(facts), ...change }]

const withTask = async (
  facts: readonly TaskFact[],
): Promise<{ readonly ledger: LedgerByHand; readonly task: TaskId }> => {
  const ledger = await aLedger()
  return { ledger, task: await ledger.task(facts) }
}

/** The findings at the last fact. */
const foundAtEnd = async (facts: readonly TaskFact[]): Promise<readonly Verdict[]> => {
  const { ledger, task } = await withTask(facts)
  const found = await judge(ledger)
  return found.filter(({ stream, seq }) => stream === task && seq === facts.length - 1)
}

const place = (facts: readonly TaskFact[], id: string) => [expect.objectContaining({ id, seq: facts.length - 1 })]

test('a task that a permitted person decided once has no findings', async () => {
  const { ledger } = await withTask(decided)
  expect(await judge(ledger)).toEqual([])
})

test('V19, V5: a task that is closed twice is found', async () => {
  const twice = [...decided, { ...last<'task.decided'>(decided), at: 2 }]
  const ids = (await foundAtEnd(twice)).map(({ id }) => id)
  expect(ids).toEqual(['V5', 'V19'])
})

test.each([
  ['nobody', ''],
  ['somebody unknown', 'unknown'],
  ['the system, although no deadline has passed', 'system'],
])('V20: a decision by %s is found', async (_, by) => {
  const facts = bent<'task.decided'>(decided, { by })
  expect(await foundAtEnd(facts)).toEqual(place(facts, 'V20'))
})

test('V20: a decision by a person who is excluded is found', async () => {
  const [opened, verdict] = [...decided] as [FactOf<'task.opened'>, FactOf<'task.decided'>]
  const facts = [{ ...opened, spec: aSpec({ excluded: [ana.id] }) }, verdict]
  expect(await foundAtEnd(facts)).toEqual(place(facts, 'V20'))
})

test('V21: a decision about other content than was shown is found', async () => {
  const facts = bent<'task.decided'>(decided, { hash: 'another' })
  expect(await foundAtEnd(facts)).toEqual(place(facts, 'V21'))
})

test('V23: an item that is approved and rejected, or not of the task, is found', async () => {
  for (const change of [{ rejected: ['a'] }, { approved: ['z'] }]) {
    const facts = bent<'task.decided'>(decided, change)
    expect(await foundAtEnd(facts)).toEqual(place(facts, 'V23'))
  }
})

const timed = aSpec({
  levels: [{ to: to('ana'), deadline: { kind: 'after', ms: 2 * HOUR } }],
  reminders: { kind: 'before', beforeMs: [HOUR] },
})

test('V22: a reminder or a deadline that is recorded twice is found', async () => {
  for (const facts of [history(open(timed), passTime(HOUR)), history(open(timed), passTime(2 * HOUR))]) {
    const twice = [...facts, facts.at(-1) as TaskFact]
    expect((await foundAtEnd(twice)).map(({ id }) => id)).toEqual(['V22'])
  }
})

test('V24: a deadline that is recorded before its time is found', async () => {
  const facts = history(open(timed), passTime(2 * HOUR))
  const early = facts.map((each) => (each.type === 'task.timed_out' ? { ...each, at: HOUR } : each))
  const { ledger } = await withTask(early.filter(({ type }) => type !== 'task.reminded'))
  expect(await judge(ledger)).toMatchObject([{ id: 'V24', seq: 1 }])
})

test.each([
  ['its status', "update task set status = 'rejected'"],
  ['who has claimed it', "update task set claimed_by = 'eve'"],
  ['its deadline', 'update task set deadline = 7'],
  ['whether it is open', 'update task set is_open = 0'],
  ['whose inbox it is in', "update task set addresses = '[]'"],
  ['an inbox that lost it', "delete from task_address where address = '*'"],
  ['a row that is gone', 'delete from task'],
])('V4: an inbox row that differs from the facts is found: %s', async (_, fault) => {
  const { ledger, task } = await withTask(history(open()))
  await ledger.sql(fault)
  expect(await judge(ledger)).toEqual([{ id: 'V4', stream: task, seq: null }])
})

test('V13: an open task without a wake for its deadline is found', async () => {
  const { ledger, task } = await withTask(history(open(timed)))
  await ledger.sql('update stream set wake_at = null')
  expect(await judge(ledger)).toEqual([{ id: 'V13', stream: task, seq: null }])
})

test('V13: a run without a wake that waits for a closed task is found', async () => {
  const ledger = await aLedger()
  const task = await ledger.task(history(open(), withdraw()))
  await ledger.run([started(), fact('child.started', { step: 'ask', child: task })], { id: RUN })
  expect(await judge(ledger)).toMatchObject([{ id: 'V13', stream: RUN, seq: 1 }])
})
