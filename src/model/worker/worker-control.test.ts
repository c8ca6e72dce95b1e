/** Which order to a worker takes effect. */
import { expect, test } from 'vitest'
import { workerId } from '#model/kernel/ids.ts'
import { fold } from '#model/kernel/machine.ts'
import { type OrderCommand, type OrderFact, orders, type Standing, takesAny } from './worker-control.ts'

const ADA = workerId('ada')
const order = (name: 'drain' | 'pause' | 'resume'): OrderCommand => ({
  type: 'order',
  order: name,
  worker: ADA,
  by: 'ana',
})
const stop = (by: string, at: number): OrderCommand => ({ type: 'stop', by, reason: null, at })
const lift: OrderCommand = { type: 'lift', by: 'eve' }

const told = (...commands: readonly OrderCommand[]): { readonly facts: OrderFact[]; readonly standing: Standing } => {
  const facts: OrderFact[] = []
  for (const command of commands) {
    const decision = orders.decide(fold(orders, facts), command)
    if (decision.kind === 'facts') facts.push(...decision.facts)
  }
  return { facts, standing: fold(orders, facts) }
}

test('orders-1: the last of pause and resume takes effect', () => {
  expect(told(order('pause')).standing.isPaused).toBe(true)
  expect(takesAny(told(order('pause')).standing)).toBe(false)
  expect(takesAny(told(order('pause'), order('resume')).standing)).toBe(true)
  expect(told(order('pause'), order('resume'), order('pause')).standing.isPaused).toBe(true)
})

test('orders-1: a worker that was ordered to drain leaves, whatever it is ordered after that', () => {
  const { standing } = told(order('drain'), order('pause'), order('resume'))
  expect([standing.drains, takesAny(standing)]).toEqual([true, false])
})

test('orders-2: a stop holds until it is lifted, and the first one takes effect', () => {
  const { facts, standing } = told(stop('ana', 1), stop('bob', 2))
  expect(facts).toHaveLength(1)
  expect(standing.stop).toEqual({ by: 'ana', reason: null, at: 1 })
  // Two processes may both record a stop.
  expect(orders.evolve(standing, { type: 'stop_ordered', by: 'bob', reason: null, at: 2 }).stop?.by).toBe('ana')
  expect(takesAny(standing)).toBe(false)
  expect(takesAny(told(stop('ana', 1), lift).standing)).toBe(true)
})

test('orders-2: a lift without a stop records nothing, and a resume does not lift a stop', () => {
  expect(told(lift).facts).toEqual([])
  expect(told(stop('ana', 1), order('resume')).standing.stop).not.toBeNull()
})
