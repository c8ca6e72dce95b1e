/**
 * Is it alive, can it work: for supervisors, and for the command line to know its own server.
 *
 * Owns what readiness means: the ledger answers. Never changes anything.
 */
import { problemOf } from '../problem.ts'
import { ref } from '../schema.ts'
import type { Service } from '../service.ts'
import { type Handle, json, type Operation } from './route.ts'

export interface HealthOptions {
  readonly version: string
  readonly pid: number
}

const ledgerCheck = async (service: Service): Promise<string> => {
  try {
    await service.reader.events({ tenant: service.tenant, type: null, before: null, limit: 1 })
    return 'ok'
  } catch (error) {
    return problemOf(error).code
  }
}

export const healthRoutes = ({ version, pid }: HealthOptions): readonly Operation[] => {
  const live: Handle = async (_, context) => context.json({ status: 'ok', version, pid })
  const ready: Handle = async (service, context) => {
    const ledger = await ledgerCheck(service)
    const status = ledger === 'ok' ? 'ok' : 'unavailable'
    return context.json(
      { status, version, checks: { ledger }, durable: service.ledger.durable, simulated: service.isSimulated },
      ledger === 'ok' ? 200 : 503,
    )
  }
  const readiness = {
    method: 'get',
    access: 'public',
    summary: 'Can it work: the ledger answers',
    answers: { 200: json(ref('Health')), 503: json(ref('Health')) },
    handle: ready,
  } as const
  return [
    { id: 'getHealth', path: '/health', ...readiness },
    { id: 'getReadiness', path: '/health/ready', ...readiness },
    {
      id: 'getLiveness',
      method: 'get',
      path: '/health/live',
      access: 'public',
      summary: 'Is it alive, and which process is it',
      answers: { 200: json(ref('Live')) },
      handle: live,
    },
  ]
}
