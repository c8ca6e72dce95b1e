/** Calls that wait at a gate and do not continue: a call whose run exists already leaves its place, and nothing else changes. */
import { expect, test } from 'vitest'
import type { Call, Candidate } from '#model/event/arrival.ts'
import { runId } from '#model/kernel/ids.ts'
import type { GateFact, GateState, OpenGate } from './gate-fact.ts'
import { waiterOf } from './gate-read.ts'
import { evolveGate } from './gate-state.ts'
import { forgetCall } from './gate-withdraw.ts'

const [FIRST, SECOND] = [runId('1'.repeat(32)), runId('2'.repeat(32))]

const callOf = (run: Call['run']): Call => ({
  ...{ run, session: null, by: null },
  input: { kind: 'given', payload: { value: null } },
})

const buffered = (run: Call['run'], sequence: number): GateFact => ({
  ...{ type: 'gate.buffered', at: 1, displaces: 0, claim: null },
  candidate: {
    ...{ run, how: 'event', overlapKey: '', throttleKey: '', priority: 0, cost: 1 },
    events: [{ sequence, key: null, call: callOf(run) }],
  } as unknown as Candidate,
})

const gateWith = (...facts: readonly GateFact[]): OpenGate =>
  [{ type: 'gate.opened', at: 0, cursor: 0 } as const, ...facts].reduce<GateState>(evolveGate, {
    kind: 'none',
  }) as OpenGate

test('gate-7: a waiting call whose run exists is dropped, and the others stay in line (14.4.3)', () => {
  const gate = gateWith(buffered(FIRST, -1), buffered(SECOND, -2))
  const decision = forgetCall(gate, { type: 'forget_call', now: 5, run: FIRST })
  expect(decision).toMatchObject({
    kind: 'facts',
    facts: [
      { type: 'gate.withdrawn', sequence: -1, place: { kind: 'line', key: '' } },
      { type: 'trigger.suppressed', sequence: -1, reason: 'duplicate', into: FIRST },
    ],
  })
  const after = (decision.kind === 'facts' ? decision.facts : []).reduce<GateState>(evolveGate, gate)
  expect(waiterOf(after as OpenGate, () => true)?.event.call?.run).toBe(SECOND)
})

test('gate-7: if no call with this run waits, nothing is recorded (14.4.3)', () => {
  expect(forgetCall(gateWith(buffered(FIRST, -1)), { type: 'forget_call', now: 5, run: SECOND })).toEqual({
    kind: 'facts',
    facts: [],
  })
})
