/** Which order to a worker takes effect. */
import { expect, test } from 'vitest'
import { workerId } from '#model/kernel/ids.ts'
import { fold } from '#model/kernel/machine.ts'
import {
  takesAny,
  type WorkerControlCommand,
  type WorkerControlFact,
  type WorkerControlState,
  workerControl,
} from './worker-control.ts'

const ADA = workerId('ada')
const order = (name: 'drain' | 'pause' | 'resume'): WorkerControlCommand => ({
  type: 'order',
  order: name,
  worker: ADA,
  by: 'ana',
})
const stop = (by: string, at: number): WorkerControlCommand => ({ type: 'stop', by, reason: null, at })
const lift: WorkerControlCommand = { type: 'lift', by: 'eve' }

const told = (
  ...commands: readonly WorkerControlCommand[]
): { readonly facts: WorkerControlFact[]; readonly standing: WorkerControlState } => {
  const facts: WorkerControlFact[] = []
  for (const command of commands) {
    const decision = workerControl.decide(fold(workerControl, facts), command)
    if (decision.kind === 'facts') facts.push(...decision.facts)
  }
  return { facts, standing: fold(workerControl, facts) }
}

test('worker-control-1: the last of pause and resume takes effect', () => {
  expect(told(order('pause')).standing.isPaused).toBe(true)
  expect(takesAny(told(order('pause')).standing)).toBe(false)
  expect(takesAny(told(order('pause'), order('resume')).standing)).toBe(true)
  expect(told(order('pause'), order('resume'), order('pause')).standing.isPaused).toBe(true)
})

test('worker-control-1: a worker that was ordered to drain leaves, whatever it is ordered after that', () => {
  const { standing } = told(order('drain'), order('pause'), order('resume'))
  expect([standing.drains, takesAny(standing)]).toEqual([true, false])
})

test('worker-control-2: a stop holds until it is lifted, and the first one takes effect', () => {
  const { facts, standing } = told(stop('ana', 1), stop('bob', 2))
  expect(facts).toHaveLength(1)
  expect(standing.stop).toEqual({ by: 'ana', reason: null, at: 1 })
  // Two processes may both record a stop.
  expect(workerControl.evolve(standing, { type: 'stop_ordered', by: 'bob', reason: null, at: 2 }).stop?.by).toBe('ana')
  expect(takesAny(standing)).toBe(false)
  expect(takesAny(told(stop('ana', 1), lift).standing)).toBe(true)
})

test('worker-control-2: a lift without a stop records nothing, and a resume does not lift a stop', () => {
  expect(told(lift).facts).toEqual([])
  expect(told(stop('ana', 1), order('resume')).standing.stop).not.toBeNull()
})
