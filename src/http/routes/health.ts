/**
 * Is it alive, can it work: for supervisors, and for the command line to know its own server.
 *
 * Owns what readiness means: the ledger answers. Never changes anything.
 */
import { LOCAL_TENANT } from '../../model/ids.ts'
import { problemOf } from '../problem.ts'
import { readQuery } from '../query.ts'
import type { Service } from '../service.ts'
import type { Handle, Route } from './route.ts'

export interface HealthOptions {
  readonly version: string
  readonly pid: number
}

const ledgerCheck = async (service: Service): Promise<string> => {
  try {
    await service.reader.events({ tenant: LOCAL_TENANT, type: null, before: null, limit: 1 })
    return 'ok'
  } catch (error) {
    return problemOf(error).code
  }
}

export const healthRoutes = (service: Service, { version, pid }: HealthOptions): readonly Route[] => {
  const live: Handle = async (context) => {
    readQuery(context, [])
    return context.json({ status: 'ok', version, pid })
  }
  const ready: Handle = async (context) => {
    readQuery(context, [])
    const ledger = await ledgerCheck(service)
    const status = ledger === 'ok' ? 'ok' : 'unavailable'
    return context.json(
      { status, version, checks: { ledger }, durable: service.ledger.durable, simulated: service.isSimulated },
      ledger === 'ok' ? 200 : 503,
    )
  }
  return [
    { path: '/health', get: ready },
    { path: '/health/ready', get: ready },
    { path: '/health/live', get: live },
  ]
}
