/** Which fact counts as what, tested without an engine. */
import { describe, expect, test } from 'vitest'
import { type ScheduleId, SERVER_TENANT, type TaskId } from '#model/kernel/ids.ts'
import type { Json } from '#model/kernel/json.ts'
import type { RunFact } from '#model/run/fact.ts'
import { SYSTEM } from '#model/task/spec.ts'
import type { NewStream, StreamWrite } from '#ports/ledger.ts'
import { aCreation, aFact, anAppend, anEvent, aTask, aWrite, newRun, newTask, START } from '#testing/ledger/builders.ts'
import { ticksOfAppend, ticksOfBatch, ticksOfRun } from './ticks.ts'

const flat = (ticks: ReturnType<typeof ticksOfAppend>): readonly string[] =>
  ticks.map(({ metric, labels, value }) => `${metric}{${labels}} ${value}`)
const ofWrites = (...writes: readonly StreamWrite[]) => flat(ticksOfAppend(anAppend({ writes })))
const ofFact = (fact: object, handler = 'send') =>
  flat(ticksOfRun(handler, 'workflow', [{ at: 1, ...fact } as RunFact]))
const started = (input: Json): readonly [ReturnType<typeof aFact>] => [
  aFact({ type: 'run.started', body: JSON.stringify({ handler: 'send', input }) }),
]

describe('a run that is created', () => {
  const mode = (create: Partial<NewStream>, input: Json = { kind: 'event' }): readonly string[] =>
    ofWrites(aCreation(newRun(), { handler: 'send', ...create }, { facts: started(input) }))

  test.each<[string, Partial<NewStream>, Json?]>([
    ['daemon', { event: 0 }],
    ['daemon', { sequence: 7 }],
    ['scheduled', { parent: 'sch_1' as ScheduleId }],
    ['hierarchical', { parent: newRun() }],
    ['batch', {}, { kind: 'events', sequences: [1, 2] }],
    ['interactive', {}, { kind: 'given', payload: { value: { input: { kind: 'events' } } } }],
  ])('counts as mode %s', (word, create, input) => {
    expect(mode(create, input)).toEqual([`runs_started_total{send,${word}} 1`])
  })

  test('counts both its start and its end if it has ended on creation', () => {
    const write = aCreation(newRun(), { handler: 'send', event: 0 }, { status: 'cancelled' })
    expect(ofWrites(write)).toEqual(['runs_started_total{send,daemon} 1', 'runs_ended_total{send,cancelled} 1'])
  })
})

describe('facts of a run', () => {
  const child = (id: string, kind: string) => ({ type: 'child.ended', step: 'ask', child: id, end: { kind } })

  test.each<[object, readonly string[]]>([
    [{ type: 'step.failed', step: 'a' }, ['steps_total{workflow,failed} 1']],
    [{ type: 'step.retry_scheduled', step: 'a' }, ['steps_total{workflow,retrying} 1']],
    [{ type: 'step.uncertain', step: 'a' }, ['steps_total{workflow,uncertain} 1', 'step_uncertain_total{workflow} 1']],
    [child(newTask(), 'done'), ['steps_total{human,success} 1']],
    [child(newTask(), 'failed'), ['steps_total{human,failed} 1']],
    [child(newRun(), 'done'), []],
    [{ type: 'timer.fired', step: 'a' }, []],
    [{ type: 'run.completed', status: 'partial' }, ['runs_ended_total{send,partial} 1']],
    [{ type: 'run.expired' }, ['runs_ended_total{send,expired} 1']],
    [{ type: 'run.retried' }, []],
  ])('%j', (fact, expected) => {
    expect(ofFact(fact)).toEqual(expected)
  })

  test('count the tokens and the cost of a model call in micro-dollars, or that the cost is unknown', () => {
    const call = (cost: Json) => ({
      type: 'step.completed',
      step: 'agent/model[1]',
      result: { value: { reply: { modelUsed: 'opus', usage: { input: 10, output: 4 }, cost } } },
    })
    const tokens = ['steps_total{workflow,success} 1', 'tokens_total{opus,input} 10', 'tokens_total{opus,output} 4']
    expect(ofFact(call({ micros: 250 }))).toEqual([...tokens, 'cost_usd_total{opus} 250'])
    expect(ofFact(call(null))).toEqual([...tokens, 'cost_unknown_total{opus} 1'])
  })

  test('count the result of a try to deliver a webhook', () => {
    const tried = { type: 'step.completed', step: 'try[1]', result: { value: { kind: 'failed' } } }
    expect(ofFact(tried, 'notify-webhook-0a')).toContain('webhook_deliveries_total{failed} 1')
    expect(ofFact(tried, 'notify-mail')).toEqual(['steps_total{workflow,success} 1'])
  })
})

describe('an append', () => {
  test('counts events, and triggers that were suppressed', () => {
    const suppressed = [{ trigger: 'send', reason: 'filter', detail: '' }] as const
    const events = [
      anEvent({ type: 'order.paid' }, { suppressed }),
      anEvent({ type: 'agent.escalated' }),
      anEvent({ tenant: SERVER_TENANT }),
    ]
    expect(flat(ticksOfAppend(anAppend({ events })))).toEqual([
      'events_total{order.paid,accepted} 1',
      'triggers_suppressed_total{filter} 1',
      'events_total{agent.escalated,accepted} 1',
      'escalations_total{rule} 1',
    ])
  })

  test('counts a decision and how long it took, and whether a person or a deadline escalated a task', () => {
    const id: TaskId = newTask()
    const task = aTask({ type: 'approval', createdAt: START })
    const fact = (type: string, body: Json) => aFact({ type, recordedAt: START + 90_000, body: JSON.stringify(body) })
    expect(ofWrites(aWrite(id, { task, facts: [fact('task.decided', { action: 'approve' })] }))).toEqual([
      'decisions_total{approve} 1',
      'task_wait_seconds{approval} 90',
    ])
    expect(ofWrites(aWrite(id, { task, facts: [fact('task.escalated', { by: 'ana' })] }))).toEqual([
      'escalations_total{person} 1',
    ])
    expect(ofWrites(aWrite(id, { task, facts: [fact('task.escalated', { by: SYSTEM })] }))).toEqual([
      'escalations_total{deadline} 1',
    ])
    expect(ofWrites(aWrite(id, { task, facts: [fact('task.viewed', {})] }))).toEqual([])
  })

  test('counts the slots of a schedule, and events that a flow gate suppressed', () => {
    const facts = [
      aFact({ type: 'schedule.fired' }),
      aFact({ type: 'schedule.skipped', body: JSON.stringify({ reason: 'overlap', count: 3 }) }),
    ]
    expect(ofWrites(aWrite('sch_1' as ScheduleId, { facts }))).toEqual([
      'schedule_slots_total{fired} 1',
      'schedule_slots_total{overlap} 3',
    ])
    const turned = aFact({ type: 'trigger.suppressed', body: JSON.stringify({ reason: 'rate_limit' }) })
    expect(ofWrites(aWrite('gat_1' as ScheduleId, { facts: [turned] }))).toEqual([
      'triggers_suppressed_total{rate_limit} 1',
    ])
  })
})

test('a batch counts its appends, its duration, and conflicts, fenced and repeated appends', () => {
  const appends = [anAppend(), anAppend(), anAppend(), anAppend({ events: [anEvent({ type: 'order.paid' })] })]
  const conflict = { kind: 'conflict', stream: newRun(), version: 1, epoch: 1 } as const
  const outcomes = [
    { kind: 'already_written', sequences: [], position: 0, signalled: [] },
    { ...conflict, reason: 'version' },
    { ...conflict, reason: 'epoch' },
    { kind: 'conflict', reason: 'taken', sequence: 1, dataHash: '', runs: [] },
  ] as const
  expect(flat(ticksOfBatch({ appends, outcomes, ms: 25 }))).toEqual([
    ...['commit_seconds{} 0.025', 'commit_appends{} 4', 'ledger_readbacks_total{} 1', 'ledger_conflicts_total{} 1'],
    ...['ledger_fenced_total{} 1', 'events_total{order.paid,duplicate} 1'],
  ])
})
