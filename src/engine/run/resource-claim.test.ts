/** What a run takes: how scope, owner and key become the key of a slot, and what happens when a rule fails. */
import { describe, expect, test } from 'vitest'
import { RuleFailed } from '#engine/core/rule-values.ts'
import { fn } from '#executors/workflow/function.ts'
import { normalise } from '#manifest/define/define.ts'
import type { FunctionDefinition } from '#manifest/define/system.ts'
import { NO_LIMIT } from '#model/flow/lane.ts'
import type { FlowSource } from '#model/flow/policies/flow-source.ts'
import { LOCAL_TENANT, sessionId, type TenantId } from '#model/kernel/ids.ts'
import {
  leaseFor,
  resourceClaimOf,
  resourceClaimOfCall,
  resourceClaimOfDecided,
  rootsOfInput,
} from './resource-claim.ts'

const define = (flow: FlowSource, name = 'work'): FunctionDefinition => {
  const system = normalise({ name: 'demand', functions: [fn(name, { ...flow }, () => null)] }, () => 'hash')
  return system.functions.get(name) as FunctionDefinition
}
const subject = (input = {}, rest = {}) => ({
  tenant: LOCAL_TENANT,
  session: null,
  roots: rootsOfInput(input),
  ...rest,
})
const keysOf = (flow: FlowSource, rest = {}, name = 'work') =>
  resourceClaimOf(define(flow, name), subject({ id: 7 }, rest)).slots.map(({ key }) => key)

describe('the resource claim of a run', () => {
  test('a handler without flow control takes nothing', () => {
    expect(resourceClaimOf(define({}), subject())).toEqual({ slots: [], priority: 0 })
  })

  test('limit and weight are those of the entry', () => {
    const { slots } = resourceClaimOf(define({ concurrency: [{ limit: 5, weight: 2 }] }), subject())
    expect(slots).toMatchObject([{ limit: 5, weight: 2 }])
  })

  test('runs of one handler share a slot, and runs of two handlers only a global one', () => {
    expect(keysOf({ concurrency: 1 }, {}, 'a')).toEqual(keysOf({ concurrency: 2 }, {}, 'a'))
    expect(keysOf({ concurrency: 1 }, {}, 'a')).not.toEqual(keysOf({ concurrency: 1 }, {}, 'b'))
    const global: FlowSource = { concurrency: [{ limit: 1, scope: 'global', key: 'payload.id' }] }
    expect(keysOf(global, {}, 'a')).toEqual(keysOf(global, {}, 'b'))
  })

  test('demand-1: tenants and scopes never share a slot', () => {
    const of = (scope: 'handler' | 'global' | 'module' | 'pool') => ({ concurrency: [{ limit: 1, scope }] })
    const texts = (['handler', 'global', 'module', 'pool'] as const).flatMap((scope) => keysOf(of(scope)))
    expect(new Set(texts).size).toBe(4)
    expect(keysOf(of('global'), { tenant: 'other' as TenantId })).not.toEqual(keysOf(of('global')))
  })

  test('a total is one slot for all keys together, besides the slot of each key', () => {
    const { slots } = resourceClaimOf(
      define({ concurrency: [{ limit: 2, key: 'payload.id', total: 5 }] }),
      subject({ id: 7 }),
    )
    const other = resourceClaimOf(
      define({ concurrency: [{ limit: 2, key: 'payload.id', total: 5 }] }),
      subject({ id: 8 }),
    ).slots
    expect(slots.map(({ limit }) => limit)).toEqual([2, 5])
    expect(slots[1]).toEqual(other[1])
    expect(slots[0]).not.toEqual(other[0])
  })

  test('fairness is a slot that is never full, with the share that the rule gives, or a share of 1 if it gives none', () => {
    const of = (weight: string) =>
      resourceClaimOf(define({ fairness: { key: 'payload.id', weight } }), subject({ id: 7 })).slots[0]
    expect(of('payload.id - 4')).toMatchObject({ limit: NO_LIMIT, weight: 1, share: 3 })
    expect([of('payload.none'), of('0 - payload.id')]).toMatchObject([{ share: 1 }, { share: 1 }])
  })

  test('runs of one session share a slot, and a run without a session takes none', () => {
    const flow: FlowSource = { concurrency: [{ limit: 1, scope: 'session' }] }
    const [a, b] = ['a', 'b'].map((digit) => ({ session: sessionId(digit.repeat(32)) }))
    expect(keysOf(flow, a)).toEqual(keysOf(flow, a))
    expect(keysOf(flow, a)).not.toEqual(keysOf(flow, b))
    expect(keysOf(flow)).toEqual([])
  })

  test('demand-2: a key that fails is an error, and only a run that is already decided continues without it', () => {
    const definition = define({ concurrency: [{ limit: 1, key: 'payload.none' }] })
    expect(() => resourceClaimOf(definition, subject())).toThrow(RuleFailed)
    expect(() => resourceClaimOfCall(definition, subject())).toThrow(expect.objectContaining({ code: 'EXPR_FAILED' }))
    expect(resourceClaimOfDecided(definition, subject()).slots).toHaveLength(1)
  })

  test('a priority is in whole seconds within a day, and 0 if its rule fails', () => {
    const priority = (text: string) => resourceClaimOf(define({ priority: text }), subject({ id: 7.6 })).priority
    expect(priority('payload.id')).toBe(8)
    expect(priority('payload.id * 100000')).toBe(86_400)
    expect(priority('payload.id * -100000')).toBe(-86_400)
    expect(priority('payload.none')).toBe(0)
    expect(resourceClaimOfDecided(define({ priority: 5 }), subject(), 12.3).priority).toBe(12)
  })

  test('a run that takes a slot is not created with a lease', () => {
    const reserve = () => 'wrk_1' as never
    expect(leaseFor(resourceClaimOf(define({ concurrency: 1 }), subject()), reserve)).toBeNull()
    expect(leaseFor(resourceClaimOf(define({ priority: 5 }), subject()), reserve)).toBe('wrk_1')
  })
})
