/**
 * A child run: how a step of one run starts another.
 *
 * Owns its birth in the append that opens the step. Its end is found by looking (offer.ts). A child of the life before is not born
 * again: the step is opened on it, and once that is in the ledger it is retried (child-retry-1).
 */
import { causeFrom } from '#engine/core/cause.ts'
import { storeValue } from '#engine/core/payloads.ts'
import type { ActiveRun } from '#engine/run/active-run.ts'
import { newRun } from '#engine/run/new-run.ts'
import { leaseFor, resourceClaimOfCall, rootsOfInput } from '#engine/run/resource-claim.ts'
import { type Answer, NO_SIDE_WRITES, type Request, toldOf } from '#engine/run/run-request.ts'
import { offerChildren } from '#engine/wait/reconcile.ts'
import { checkAgainst } from '#manifest/schema/schema.ts'
import { TrihandError } from '#model/kernel/errors.ts'
import type { RunId } from '#model/kernel/ids.ts'
import type { Json } from '#model/kernel/json.ts'
import { childRules } from '#model/run/child-retry.ts'
import type { InvokeOptions } from '#ports/step-gate.ts'
import { cancelChild } from './cancel-child.ts'
import { callThroughGate } from './gated-child.ts'
import { requireOpen } from './internal.ts'
import { definitionOf, requireCall } from './permissions.ts'

const MAX_CHILD_DEPTH = 16

interface Call extends InvokeOptions {
  readonly handler: string
  readonly input: Json
}

export const startChild = async (activeRun: ActiveRun, step: string, call: Call): Promise<void> => {
  const { handler, input, tells, onParentEnd, terms } = call
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
  const told = toldOf(tells, { task_id: null, to: handler })
  if (call.gate !== 'none' && context.gates.gateFor(handler) !== null) {
    const passed = await callThroughGate(activeRun, { handler, value, payload, parent: { ...family, cause } })
    const { child, isAnothers } = passed
    const apart = isAnothers ? ({ detached: true } as const) : detached
    const command = { type: 'start_child', now: context.clock.now(), step, child, handler, ...apart } as const
    return askAndLook(activeRun, { command, sideWrites: { ...NO_SIDE_WRITES, ...told } }, isAnothers ? null : child)
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
    sideWrites: { ...NO_SIDE_WRITES, runs: [child], ...told },
    done: null,
  })
}

/**
 * The look finds how it ended, or that it was not retried for this call, and asks for that: again after a crash (offer.ts). The run stays
 * in memory until then: a child that has ended before wakes it no more.
 */
const askAndLook = (activeRun: ActiveRun, request: Omit<Request, 'done'>, born: RunId | null): void => {
  activeRun.begin()
  const look = async ({ kind }: Answer): Promise<void> => {
    try {
      if (kind === 'recorded') await activeRun.whileActive(() => offerChildren(activeRun))
      // The run was cancelled while its call passed the gate: it has no child.
      if (kind === 'refused' && born !== null)
        await cancelChild(activeRun.context, born, 'trihand', 'the run that called it was cancelled')
    } finally {
      activeRun.end()
    }
  }
  activeRun.ask({ ...request, done: (answer) => void look(answer).catch(() => {}) })
}
