/** Chains of causes: how long they may get, and how often a handler may occur in one. */
import { describe, expect, test } from 'vitest'
import type { Cause } from './event.ts'
import { admit, type ChainLimits, causedBy, DEFAULT_MAX_HOPS } from './trigger.ts'

const LIMITS: ChainLimits = { maxHops: DEFAULT_MAX_HOPS, allowReentry: 0 }
const aCause = (changes: Partial<Cause> = {}): Cause => ({
  correlationId: 'evt-1',
  causationId: null,
  traceparent: '00-trace',
  hops: 0,
  chain: [],
  ...changes,
})

/** Lets two handlers answer each other until one is suppressed; returns the handlers that ran and the reason. */
const pingPong = (limits: ChainLimits): { readonly ran: readonly string[]; readonly reason: string } => {
  let cause = aCause()
  for (let i = 0; ; i++) {
    const handler = i % 2 === 0 ? 'ping' : 'pong'
    const admission = admit(cause, handler, limits)
    if (admission.kind === 'suppressed') return { ran: cause.chain, reason: admission.reason }
    cause = causedBy(cause, `run-${i}`, handler)
  }
}

describe('admission', () => {
  test('an event from outside is admitted', () => expect(admit(aCause(), 'ping', LIMITS)).toEqual({ kind: 'admitted' }))

  test('trigger-1: [R14][V18] a chain stops when it has more hops than are allowed', () => {
    expect(admit(aCause({ hops: 16 }), 'ping', LIMITS)).toEqual({ kind: 'admitted' })
    expect(admit(aCause({ hops: 17 }), 'ping', LIMITS)).toEqual({
      kind: 'suppressed',
      reason: 'hop_limit',
      detail: 'the chain of causes has 17 hops; at most 16 are allowed',
    })
  })

  test('trigger-1: [R14][V18] a handler occurs in a chain once, or as often as its re-entry allows', () => {
    const chain = ['ping', 'pong', 'ping']
    expect(admit(aCause({ chain }), 'other', LIMITS).kind).toBe('admitted')
    expect(admit(aCause({ chain }), 'ping', { ...LIMITS, allowReentry: 2 }).kind).toBe('admitted')
    expect(admit(aCause({ chain }), 'ping', { ...LIMITS, allowReentry: 1 })).toEqual({
      kind: 'suppressed',
      reason: 'reentry',
      detail: 'ping is already in this chain of causes: ping > pong > ping',
    })
  })

  test('trigger-1: [R14] ping-pong stops after one round', () =>
    expect(pingPong(LIMITS)).toEqual({ ran: ['ping', 'pong'], reason: 'reentry' }))

  test('trigger-1: [R14] ping-pong with unlimited re-entry stops at the limit of hops', () => {
    const { ran, reason } = pingPong({ ...LIMITS, allowReentry: 1_000 })
    expect([ran.length, reason]).toEqual([DEFAULT_MAX_HOPS + 1, 'hop_limit'])
  })
})

test('[A7] the effects of a run are one hop further, with the run as their cause and the handler in their chain', () => {
  expect(causedBy(aCause({ hops: 2, chain: ['ping'] }), 'run-1', 'pong')).toStrictEqual({
    correlationId: 'evt-1',
    causationId: 'run-1',
    traceparent: '00-trace',
    hops: 3,
    chain: ['ping', 'pong'],
  })
})
