/**
 * A child run: how a step of one run starts another.
 *
 * Owns its birth in the append that opens the step. Its end is found by looking (offer.ts).
 */
import { checkAgainst } from '../manifest/schema.ts'
import { TrihandError } from '../model/errors.ts'
import type { Json } from '../model/json.ts'
import type { Telling } from '../model/lifecycle.ts'
import { causeFrom } from './cause.ts'
import { demandOfCall, leaseFor, rootsOfInput } from './demand.ts'
import { demandOpen } from './internal.ts'
import { newRun } from './new-run.ts'
import { storeValue } from './payloads.ts'
import { NO_LUGGAGE, toldOf } from './request.ts'
import type { Resident } from './resident.ts'
import { definitionOf, demandCall } from './rights.ts'

const MAX_CHILD_DEPTH = 16

interface Call {
  readonly handler: string
  readonly input: Json
  readonly tells: Telling | undefined
}

export const startChild = async (resident: Resident, step: string, { handler, input, tells }: Call): Promise<void> => {
  const { house, record } = resident
  const definition = house.system().functions.get(handler)
  if (definition === undefined) throw new TrihandError('NOT_FOUND', `there is no function ${handler}`)
  demandOpen(definition)
  demandCall(definitionOf(house, record.handler)?.module ?? null, definition)
  const depth = (resident.live?.start.depth ?? 0) + 1
  if (depth > MAX_CHILD_DEPTH) throw new TrihandError('CHILD_DEPTH', `${handler} would be ${depth} levels deep`)
  if (definition.input !== null) await checkAgainst(definition.input, input, 'INPUT_INVALID', `the input of ${handler}`)
  const { payload } = await storeValue(house, input)
  const { tenant, session } = record
  const demand = demandOfCall(definition, { tenant, session, roots: rootsOfInput(input) })
  const child = newRun(house, {
    definition,
    systemHash: house.system().hash,
    tenant,
    now: house.clock.now(),
    input: { kind: 'given', payload },
    cause: causeFrom(record, resident.state),
    event: null,
    session,
    parent: { run: record.id, step, depth },
    demand,
    lease: leaseFor(demand, () => house.worker.reserve(handler, true)),
  })
  const command = { type: 'start_child', now: house.clock.now(), step, child: child.id, handler } as const
  resident.ask({
    command,
    luggage: { ...NO_LUGGAGE, runs: [child], ...toldOf(tells, { task_id: null, to: handler }) },
    done: null,
  })
}
