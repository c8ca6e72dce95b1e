/**
 * A child whose handler has flow control: the call passes the gate as any other call does, and the parent waits for what it comes to.
 *
 * Owns the call and its name. The gate's append has the gate's facts and the child's birth or its place in line; the parent records the
 * child afterwards. The steps of starting a child that has no gate are child.ts.
 *
 * gated-child-1  One call is one run, also if the process ends between the two appends: the run's id is made of the parent, the step and the
 *                handler, so that the call that is made again finds it.
 * gated-child-2  A call that met the run of another caller waits for that run's end and never ends it.
 */
import { queuedRun } from '#engine/coordinators/flow-outcomes.ts'
import type { EngineContext } from '#engine/core/engine-context.ts'
import type { ActiveRun } from '#engine/run/active-run.ts'
import type { CallParent } from '#model/event/arrival.ts'
import { type ClaimableId, isRunId, type RunId, timedRunId } from '#model/kernel/ids.ts'
import type { Json } from '#model/kernel/json.ts'
import type { Payload } from '#model/kernel/payload.ts'
import { isEnded } from '#model/run/status.ts'

interface GatedCall {
  readonly handler: string
  readonly value: Json
  readonly payload: Payload
  readonly parent: CallParent
}

interface Passed {
  readonly child: RunId
  /** Another caller's run has the key of this call. */
  readonly isAnothers: boolean
}

const childOf = ({ context, live }: ActiveRun, { handler, parent }: GatedCall): RunId =>
  timedRunId(live?.startedAt ?? 0, context.ids.digest(`child\n${parent.run}\n${parent.step}\n${handler}`))

const headOf = async (context: EngineContext, run: RunId) => {
  const [head] = await context.ledger.load([run], { after: Number.MAX_SAFE_INTEGER })
  return head ?? null
}

const isKnown = async (context: EngineContext, child: RunId): Promise<boolean> =>
  (await headOf(context, child)) !== null || (await queuedRun(context, child))?.state === 'queued'

/** Where runs wait for each other's end, whom the call must not wait for (gate-8). */
const callersAbove = async (
  context: EngineContext,
  parent: ClaimableId | null,
  handler: string,
): Promise<Pick<CallParent, 'above'>> => {
  const overlap = context.system().functions.get(handler)?.flow?.policies.overlap
  if (overlap !== 'buffer_one' && overlap !== 'buffer_all') return {}
  const above: RunId[] = []
  for (let run = parent; run !== null && isRunId(run); run = (await headOf(context, run))?.parent ?? null)
    above.push(run)
  return above.length === 0 ? {} : { above }
}

/** A gate that turns the call away throws, with its code. */
export const callThroughGate = async (activeRun: ActiveRun, call: GatedCall): Promise<Passed> => {
  const { context, record } = activeRun
  const child = childOf(activeRun, call)
  // gated-child-1
  if (await isKnown(context, child)) return { child, isAnothers: false }
  const { handler, value, payload, parent } = call
  const input = { kind: 'given', payload } as const
  const family = { ...parent, ...(await callersAbove(context, record.parent, handler)) }
  const asked = { call: { run: child, input, session: record.session, by: null, parent: family }, value }
  const run = await context.gates.call(handler, asked).catch(async (error: unknown) => {
    // A worker that lost this run may have made the same call meanwhile.
    if (await isKnown(context, child)) return child
    throw error
  })
  if (run === child) return { child, isAnothers: false }
  // gated-child-2: told at its end; if it has ended by now, the look after the call finds that.
  const head = await headOf(context, run)
  if (head === null || !isEnded(head.status)) await context.gates.follow(handler, run, parent.run)
  return { child: run, isAnothers: true }
}
