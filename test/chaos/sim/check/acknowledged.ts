/** V1: everything acknowledged to a caller exists; everything denied does not. R2: one answer per event. */
import { readRunFact } from '#model/kernel/fact-codec.ts'
import { isRunId } from '#model/kernel/ids.ts'
import type { RunFact } from '#model/run/fact.ts'
import type { TaskFact } from '#model/task/fact.ts'
import type { Acknowledged } from '#test/chaos/sim/client.ts'
import type { Look } from '#test/chaos/sim/look.ts'
import { hasGate } from '#test/chaos/sim/system.ts'
import type { Evidence } from './evidence.ts'

export const checkAcknowledged = ({ look, client }: Evidence): readonly string[] => {
  const lost = client.acknowledged.flatMap((one) =>
    isThere(one, look) ? [] : [`V1: acknowledged and not there: ${JSON.stringify(one)}`],
  )
  const answers = new Map<string, string>()
  const differing = client.acknowledged.flatMap((one) => {
    if (one.kind !== 'event') return []
    // A gate starts its run later, so a repeat may return it.
    const runs = hasGate(one.sending.type) ? [] : one.receipt.runs
    const answer = `${one.receipt.sequence} ${runs.join()}`
    const first = answers.get(one.sending.id) ?? answer
    answers.set(one.sending.id, first)
    return first === answer ? [] : [`R2: ${one.sending.id} was answered with ${first} and with ${answer}`]
  })
  const known = new Set(look.events().map((event) => `${event.source} ${event.id}`))
  const denied = client.denied
    .filter(({ id }) => known.has(`sim ${id}`))
    .map(({ id }) => `R1: ${id} was denied and is there`)
  return [...lost, ...differing, ...denied]
}

const isThere = (one: Acknowledged, look: Look): boolean => {
  if (one.kind === 'event') {
    const row = look.row(one.receipt.sequence)
    const event = row === undefined ? null : JSON.parse(row.text)
    const runs = one.receipt.runs.every((run) => look.store.streams.has(run))
    const isSame = hasGate(one.sending.type) || row?.runs.join() === one.receipt.runs.join()
    return event?.id === one.sending.id && isSame && runs
  }
  if (one.kind === 'coordinator') return isAsked(one, look)
  if (one.kind === 'decision') return isDecided(one, look)
  const id = one.kind === 'session' ? one.session : one.run
  const stream = look.store.streams.get(id)
  if (stream === undefined || one.kind === 'run' || one.kind === 'session' || !isRunId(stream.id))
    return stream !== undefined
  return stream.facts.map(readRunFact).some((fact) => proves(fact, one))
}

const isDecided = ({ task, action }: Acknowledged & { readonly kind: 'decision' }, look: Look): boolean => {
  const found = look.tasks().find(({ id }) => id === task)
  const isSaid = (fact: TaskFact): boolean =>
    action === 'reassign' ? fact.type === 'task.reassigned' : fact.type === 'task.decided' && fact.action === action
  return found?.facts.some(isSaid) === true
}

/** Resuming a coordinator that is not paused leaves no fact. */
const isAsked = ({ coordinator, fact, id }: Acknowledged & { readonly kind: 'coordinator' }, look: Look): boolean => {
  if (fact.endsWith('.resumed')) return true
  const facts = look
    .coordinators()
    .filter(({ stream }) => stream.handler === coordinator)
    .flatMap((one) => one.facts)
  return facts.some((one) => one.type === fact && (one.type !== 'schedule.requested' || one.id === id))
}

const proves = (fact: RunFact, one: Acknowledged): boolean => {
  if (one.kind === 'cancel') return fact.type === 'run.cancel_requested'
  if (one.kind === 'retry') return fact.type === 'run.retried'
  return false
}
