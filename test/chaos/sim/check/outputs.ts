/** Every run that ended has the output that its play requires, whatever happened on the way; ends without success have a reason. */
import { canonical } from '#model/kernel/json.ts'
import type { Look, LookedRun } from '#test/chaos/sim/look.ts'
import type { Ending } from '#test/chaos/sim/play.ts'
import { playOf } from '#test/chaos/sim/system.ts'
import type { Evidence } from './evidence.ts'

export const checkOutputs = ({ look }: Evidence): readonly string[] => {
  const events = new Map(look.events().map((event) => [event.sequence, event]))
  return look.runs().flatMap((run) => {
    const { state } = run
    if (state.kind !== 'ended') return []
    const output = state.output === null ? null : look.value(state.output)
    const { id, facts } = run
    const ending: Ending = {
      run: id,
      errand: look.errand(run),
      status: state.status,
      output,
      facts,
      eventBySequence: (sequence) => events.get(sequence),
    }
    return judge(ending, run, look)
  })
}

const judge = (ending: Ending, run: LookedRun, look: Look): readonly string[] => {
  const { handler } = run.stream
  const who = `${run.id} (${handler})`
  const wasCancelled = ending.facts.some((fact) => fact.type === 'run.cancel_requested')
  if (ending.status === 'cancelled')
    return wasCancelled ? uncancelledChildren(run, look) : [`R12: ${who} is cancelled and nobody asked for it`]
  const play = playOf(handler)
  if (play === undefined) return helper(ending, handler)
  if (ending.status !== 'success')
    return play.mayEnd?.(ending) === true
      ? []
      : [`${who} ended with ${ending.status}: ${JSON.stringify(run.facts.at(-1))}`]
  const expected = canonical(play.output(ending))
  return canonical(ending.output) === expected ? [] : [`${who} gave ${canonical(ending.output)} instead of ${expected}`]
}

/** Functions that are started by other plays. */
const helper = ({ run, errand, status, output }: Ending, handler: string): readonly string[] => {
  if (handler === 'child' && errand.kind === 0) return status === 'failed' ? [] : [`a bad child ended with ${status}`]
  const expected = handler === 'child' ? errand.id * 10 : handler === 'ward' ? 'received' : errand.id
  return status === 'success' && output === expected
    ? []
    : [`${run} (${handler}) ended with ${status} ${JSON.stringify(output)} instead of ${JSON.stringify(expected)}`]
}

/** R12: a cancel reaches the children before the parent ends; those of the previous life have ended with that life (check/rest.ts). */
const uncancelledChildren = ({ id, facts: all }: LookedRun, look: Look): readonly string[] => {
  const facts = all.slice(all.findLastIndex(({ type }) => type === 'run.retried') + 1)
  const open = new Set(facts.flatMap((fact) => (fact.type === 'child.started' ? [fact.child] : [])))
  for (const fact of facts) if (fact.type === 'child.ended') open.delete(fact.child)
  const alive = look.runs().filter((run) => open.has(run.id))
  return alive.map((run) => `R12: ${id} is cancelled and its child ${run.id} was left ${run.stream.status}`)
}
