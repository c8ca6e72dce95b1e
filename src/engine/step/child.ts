/**
 * A child run: how a step of one run starts another.
 *
 * Owns the creation of the child in the append that opens the step. The parent finds the child's end when it reconciles
 * (wait/reconcile.ts). A child from before a retry of the parent is not created again: the step is opened on that child, which is
 * retried once this is in the ledger (child-retry-1).
 *
 * gated-child-1  One call is one run, also if the process ends between the two appends: the run's id is derived from the parent, the step
 *                and the handler, so that a repeated call finds it.
 * gated-child-2  A call that joined another caller's run waits for that run's end and never cancels it.
 */
import { queuedRun } from '#engine/coordinators/flow-outcomes.ts'
import { causeFrom } from '#engine/core/cause.ts'
import type { EngineContext } from '#engine/core/engine-context.ts'
import { storeValue } from '#engine/core/payloads.ts'
import type { ActiveRun } from '#engine/run/active-run.ts'
import { newRun } from '#engine/run/new-run.ts'
import { leaseFor, resourceClaimOfCall, rootsOfInput } from '#engine/run/resource-claim.ts'
import { type Answer, lifecycleAbout, NO_SIDE_WRITES, type Request } from '#engine/run/run-request.ts'
import { offerChildren } from '#engine/wait/reconcile.ts'
import { checkAgainst } from '#manifest/schema/schema.ts'
import type { CallParent } from '#model/event/arrival.ts'
import { TrihandError } from '#model/kernel/errors.ts'
import { type ClaimableId, isRunId, type RunId, timedRunId } from '#model/kernel/ids.ts'
import type { Json } from '#model/kernel/json.ts'
import type { Payload } from '#model/kernel/payload.ts'
import { childRules } from '#model/run/child-retry.ts'
import { isEnded } from '#model/run/status.ts'
import type { InvokeOptions } from '#ports/step-port.ts'
import { cancelChild } from './cancel-child.ts'
import { requireOpen } from './internal.ts'
import { definitionOf, requireCall } from './permissions.ts'

/*
 * A child whose handler has flow control: the call passes the gate like any other call, and the parent waits for its result.
 * The gate's append has the gate's facts and either the new child or its place in the queue; the parent records the child afterwards.
 * Children without a gate are started further below.
 */

interface GatedCall {
  readonly handler: string
  readonly value: Json
  readonly payload: Payload
  readonly parent: CallParent
}

interface Passed {
  readonly child: RunId
  /** The key of this call belongs to another caller's run. */
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

/** If the overlap policy makes runs wait for each other's end: the callers above, which the call must not wait for (gate-8). */
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

/** Throws, with the gate's code, if the gate refuses the call. */
const callThroughGate = async (activeRun: ActiveRun, call: GatedCall): Promise<Passed> => {
  const { context, record } = activeRun
  const child = childOf(activeRun, call)
  // gated-child-1
  if (await isKnown(context, child)) return { child, isAnothers: false }
  const { handler, value, payload, parent } = call
  const input = { kind: 'given', payload } as const
  const family = { ...parent, ...(await callersAbove(context, record.parent, handler)) }
  const asked = { call: { run: child, input, session: record.session, by: null, parent: family }, value }
  const run = await context.gates.call(handler, asked).catch(async (error: unknown) => {
    // A worker that has lost this run may have made the same call in the meantime.
    if (await isKnown(context, child)) return child
    throw error
  })
  if (run === child) return { child, isAnothers: false }
  // gated-child-2: the parent is notified at the end of that run; if it has already ended, reconciling after the call finds that.
  const head = await headOf(context, run)
  if (head === null || !isEnded(head.status)) await context.gates.follow(handler, run, parent.run)
  return { child: run, isAnothers: true }
}

const MAX_CHILD_DEPTH = 16

interface Call extends InvokeOptions {
  readonly handler: string
  readonly input: Json
}

export const startChild = async (activeRun: ActiveRun, step: string, call: Call): Promise<void> => {
  const { handler, input, reports, onParentEnd, terms } = call
  const { context, record } = activeRun
  const definition = context.system().functions.get(handler)
  if (definition === undefined) throw new TrihandError('NOT_FOUND', `there is no function ${handler}`)
  requireOpen(definition)
  requireCall(definitionOf(context, record.handler)?.module ?? null, definition)
  const detached = onParentEnd === 'detach' ? ({ detached: true } as const) : {}
  const { live } = activeRun
  const known =
    live === null
      ? null
      : childRules.childToRetry(live, { step, handler, ...(call.retries !== undefined && { of: call.retries }) })
  if (known !== null) {
    const ungated = call.gate === 'none' ? ({ ungated: true } as const) : {}
    const about = { ...known, ...detached, ...ungated }
    const command = { type: 'start_child', now: context.clock.now(), step, handler, ...about } as const
    return askAndLook(activeRun, { command, sideWrites: null }, null)
  }
  const depth = (activeRun.live?.start.depth ?? 0) + 1
  if (depth > MAX_CHILD_DEPTH) throw new TrihandError('CHILD_DEPTH', `${handler} would be ${depth} levels deep`)
  if (definition.input !== null) await checkAgainst(definition.input, input, 'INPUT_INVALID', `the input of ${handler}`)
  const { payload, value } = await storeValue(context, input)
  const cause = causeFrom(record, activeRun.state)
  const family = {
    ...{ run: record.id, step, depth },
    ...(onParentEnd === 'detach' && { onParentEnd }),
    ...(terms !== undefined && { terms }),
  }
  const lifecycle = lifecycleAbout(reports, { task_id: null, to: handler })
  if (call.gate !== 'none' && context.gates.gateFor(handler) !== null) {
    const passed = await callThroughGate(activeRun, { handler, value, payload, parent: { ...family, cause } })
    const { child, isAnothers } = passed
    const apart = isAnothers ? ({ detached: true } as const) : detached
    const command = { type: 'start_child', now: context.clock.now(), step, child, handler, ...apart } as const
    return askAndLook(
      activeRun,
      { command, sideWrites: { ...NO_SIDE_WRITES, ...lifecycle } },
      isAnothers ? null : child,
    )
  }
  const { tenant, session } = record
  const limited = resourceClaimOfCall(definition, { tenant, session, roots: rootsOfInput(input) })
  const resourceClaim = call.gate === 'none' ? { ...limited, slots: [] } : limited
  const child = newRun(context, {
    definition,
    systemHash: context.system().hash,
    tenant,
    now: context.clock.now(),
    input: { kind: 'given', payload },
    cause,
    event: null,
    session,
    parent: family,
    resourceClaim,
    lease: leaseFor(resourceClaim, () => context.worker.reserve(handler, true)),
  })
  const command = {
    type: 'start_child',
    now: context.clock.now(),
    step,
    child: child.id,
    handler,
    ...detached,
  } as const
  activeRun.ask({
    command,
    sideWrites: { ...NO_SIDE_WRITES, runs: [child], ...lifecycle },
    done: null,
  })
}

/**
 * Starts the child step, then reconciles: this finds how the child ended, or that it was not yet retried for this call, and then retries
 * it; after a crash it happens again (wait/reconcile.ts). The run stays in memory until then, because an ended child no longer wakes it.
 */
const askAndLook = (activeRun: ActiveRun, request: Omit<Request, 'done'>, born: RunId | null): void => {
  activeRun.begin()
  const look = async ({ kind }: Answer): Promise<void> => {
    try {
      if (kind === 'recorded') await activeRun.whileActive(() => offerChildren(activeRun))
      // The run was cancelled while its call passed the gate: it may not have a child.
      if (kind === 'refused' && born !== null)
        await cancelChild(activeRun.context, born, 'trihand', 'the run that called it was cancelled')
    } finally {
      activeRun.end()
    }
  }
  activeRun.ask({ ...request, done: (answer) => void look(answer).catch(() => {}) })
}
