/**
 * Translates what was committed into ticks: appends and facts in, ticks out.
 *
 * Owns which fact counts as what. Pure: reads nothing else and keeps nothing. The facts with which a run is created are counted from the
 * append that creates it; every later one when its run reports it.
 */
import type { Written } from '#engine/core/observers.ts'
import { callIn } from '#http/wire/cost-totals.ts'
import { readGateFact, readScheduleFact, readTaskFact } from '#model/kernel/fact-codec.ts'
import { SERVER_TENANT } from '#model/kernel/ids.ts'
import type { Modality } from '#model/kernel/modality.ts'
import type { RunFact } from '#model/run/fact.ts'
import { isEnded } from '#model/run/status.ts'
import { SYSTEM } from '#model/task/spec.ts'
import type { Append, NewEvent, NewStream, SealedFact, StreamWrite } from '#ports/ledger.ts'
import type { CountedName, Tick } from './table.ts'

const tick = (metric: CountedName, labels: readonly string[] = [], value = 1): Tick => ({ metric, labels, value })

/** The mode of this run, as far as its creation shows it. */
const modeOf = ({ handler, parent, event, sequence }: NewStream, [first]: readonly SealedFact[]): string => {
  if (parent?.startsWith('sch_')) return 'scheduled'
  if (parent?.startsWith('run_')) return 'hierarchical'
  if (event !== null || sequence !== undefined) return 'daemon'
  // The body of its start fact begins with these members; the input behind them may be large, and is not parsed for this.
  const ofMany = `{"handler":${JSON.stringify(handler)},"input":{"kind":"events"`
  return first?.body.startsWith(ofMany) ? 'batch' : 'interactive'
}

const ofBirth = ({ facts, status }: StreamWrite, create: NewStream): readonly Tick[] => [
  tick('runs_started_total', [create.handler, modeOf(create, facts)]),
  ...(isEnded(status) ? [tick('runs_ended_total', [create.handler, status])] : []),
]

const ofTask = ({ facts, task }: StreamWrite): readonly Tick[] =>
  facts.flatMap((fact) => {
    if (fact.type !== 'task.decided' && fact.type !== 'task.escalated') return []
    const read = readTaskFact(fact)
    if (read.type === 'task.escalated') return [tick('escalations_total', [read.by === SYSTEM ? 'deadline' : 'person'])]
    if (read.type !== 'task.decided' || task === undefined) return []
    const waited = Math.max(0, (fact.recordedAt - task.createdAt) / 1_000)
    return [tick('decisions_total', [read.action]), tick('task_wait_seconds', [task.type], waited)]
  })

const ofSchedule = ({ facts }: StreamWrite): readonly Tick[] =>
  facts.flatMap((fact) => {
    if (fact.type === 'schedule.fired') return [tick('schedule_slots_total', ['fired'])]
    if (fact.type !== 'schedule.skipped') return []
    const read = readScheduleFact(fact)
    return read.type === 'schedule.skipped' ? [tick('schedule_slots_total', [read.reason], read.count)] : []
  })

const ofGate = ({ facts }: StreamWrite): readonly Tick[] =>
  facts.flatMap((fact) => {
    if (fact.type !== 'trigger.suppressed') return []
    const read = readGateFact(fact)
    return read.type === 'trigger.suppressed' ? [tick('triggers_suppressed_total', [read.reason])] : []
  })

const NONE: readonly Tick[] = []

const ofWrite = (write: StreamWrite): readonly Tick[] => {
  switch (write.stream.slice(0, 4)) {
    case 'run_':
      return write.create === null ? NONE : ofBirth(write, write.create)
    case 'tsk_':
      return ofTask(write)
    case 'sch_':
      return ofSchedule(write)
    case 'gat_':
      return ofGate(write)
    default:
      return NONE
  }
}

const ofEvent = ({ event: { type, tenant }, suppressed }: NewEvent): readonly Tick[] => {
  // Events of the server's own tenant belong to no user's system.
  if (tenant === SERVER_TENANT) return NONE
  return [
    tick('events_total', [type, 'accepted']),
    ...(type === 'agent.escalated' ? [tick('escalations_total', ['rule'])] : []),
    ...suppressed.map(({ reason }) => tick('triggers_suppressed_total', [reason])),
  ]
}

export const ticksOfAppend = ({ writes, events }: Append): readonly Tick[] => [
  ...events.flatMap(ofEvent),
  ...writes.flatMap(ofWrite),
]

const ofModel = (fact: RunFact): readonly Tick[] => {
  const call = callIn(fact)
  if (call === null) return NONE
  const { model, input, output, micros } = call
  return [
    tick('tokens_total', [model, 'input'], input),
    tick('tokens_total', [model, 'output'], output),
    micros === null ? tick('cost_unknown_total', [model]) : tick('cost_usd_total', [model], micros),
  ]
}

/** The prefix of the functions that deliver webhooks (executors/workflow/notices.ts). */
const DELIVERS = 'notify-webhook-'

const ofDelivery = (handler: string, fact: RunFact): readonly Tick[] => {
  if (!handler.startsWith(DELIVERS) || fact.type !== 'step.completed' || !('value' in fact.result)) return NONE
  const { kind } = (fact.result.value ?? {}) as { readonly kind?: unknown }
  return typeof kind === 'string' ? [tick('webhook_deliveries_total', [kind])] : NONE
}

const ofStep = (fact: RunFact, modality: Modality): readonly Tick[] => {
  switch (fact.type) {
    case 'step.completed':
      return [tick('steps_total', [modality, 'success'])]
    case 'step.failed':
      return [tick('steps_total', [modality, 'failed'])]
    case 'step.retry_scheduled':
      return [tick('steps_total', [modality, 'retrying'])]
    case 'step.uncertain':
      return [tick('steps_total', [modality, 'uncertain']), tick('step_uncertain_total', [modality])]
    // A task is a step of a person, whichever run opened it.
    case 'child.ended':
      return fact.child.startsWith('tsk_')
        ? [tick('steps_total', ['human', fact.end.kind === 'done' ? 'success' : 'failed'])]
        : NONE
    default:
      return NONE
  }
}

const END_STATUS: Readonly<Partial<Record<RunFact['type'], string>>> = {
  'run.failed': 'failed',
  'run.cancelled': 'cancelled',
  'run.expired': 'expired',
  'run.quarantined': 'quarantined',
}

const ofEnd = (handler: string, fact: RunFact): readonly Tick[] => {
  const status = fact.type === 'run.completed' ? fact.status : END_STATUS[fact.type]
  return status === undefined ? NONE : [tick('runs_ended_total', [handler, status])]
}

export const ticksOfRun = (handler: string, modality: Modality, facts: readonly RunFact[]): readonly Tick[] =>
  facts.flatMap((fact) => [
    ...ofStep(fact, modality),
    ...(fact.type === 'step.completed' ? [...ofModel(fact), ...ofDelivery(handler, fact)] : ofEnd(handler, fact)),
  ])

export const ticksOfBatch = ({ appends, outcomes, ms }: Written): readonly Tick[] => [
  tick('commit_seconds', [], ms / 1_000),
  tick('commit_appends', [], appends.length),
  ...outcomes.flatMap((outcome, i) => {
    if (outcome.kind === 'already_written') return [tick('ledger_readbacks_total')]
    if (outcome.kind !== 'conflict') return NONE
    if (outcome.reason !== 'taken')
      return [tick(outcome.reason === 'epoch' ? 'ledger_fenced_total' : 'ledger_conflicts_total')]
    const events = appends[i]?.events ?? []
    return events.flatMap(({ event: { type, tenant } }) =>
      tenant === SERVER_TENANT ? NONE : [tick('events_total', [type, 'duplicate'])],
    )
  }),
]
