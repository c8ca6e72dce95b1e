/** Maps the reason for which a gate refused a call to an error code. */
import type { GateFact } from '#model/flow/gate-fact.ts'
import type { ErrorCode, Failure } from '#model/kernel/errors.ts'

type Suppressed = Extract<GateFact, { readonly type: 'trigger.suppressed' }>

const CODES: Readonly<Record<Suppressed['reason'], ErrorCode>> = {
  filter: 'INTERNAL',
  hop_limit: 'INTERNAL',
  reentry: 'INTERNAL',
  debounced: 'INTERNAL',
  fan_in: 'INTERNAL',
  cancelled: 'RUN_CANCELLED',
  error: 'EXPR_FAILED',
  duplicate: 'RUN_EXISTS',
  overlap: 'RUN_EXISTS',
  paused: 'HANDLER_PAUSED',
  rate_limit: 'RATE_LIMITED',
}

/** A policy may put a more exact code at the start of the detail. */
const OWN_CODE = /^(COST_TOO_HIGH|RUN_BACKLOG_FULL|RUN_EXISTS|RUN_WAITS_FOR_ITSELF): /

export const refusalOf = ({ reason, detail, into, retryAt }: Suppressed): Failure => {
  const [prefix = '', own] = OWN_CODE.exec(detail) ?? []
  const more = [into === null ? '' : `, by ${into}`, retryAt === null ? '' : `, until ${retryAt}`].join('')
  return { code: (own as ErrorCode | undefined) ?? CODES[reason], message: `${detail.slice(prefix.length)}${more}` }
}
