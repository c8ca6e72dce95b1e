/** Flow control as authors write it. */
import { describe, expect, test } from 'vitest'
import { normalise, type SystemSource } from '#manifest/define/define.ts'
import type { FlowSource } from '#model/flow/policies/flow-source.ts'
import { DEFAULT_RETRY } from '#model/flow/policies/retry.ts'
import { TrihandError } from '#model/kernel/errors.ts'
import { defineFlow, type FlowDefinition } from './flow.ts'

const define = (options: FlowSource): FlowDefinition => {
  const flow = defineFlow(options, 'functions.f')
  if (flow === null) throw new Error('nothing was defined')
  return flow
}

/** The code of the refusal, and the path that it names. */
const refusalOf = (options: unknown): readonly unknown[] => {
  try {
    define(options as FlowSource)
  } catch (error) {
    if (error instanceof TrihandError) return [error.code, error.place?.path]
  }
  return ['nothing was refused']
}

describe('the normal form', () => {
  test('a handler without flow options has none', () => {
    expect(defineFlow({}, 'functions.f')).toBeNull()
  })

  test('[H4] debounce is trailing, and waits ten periods at most by default', () => {
    expect(define({ debounce: { period: '5s' } }).policies.debounce).toEqual({
      periodMs: 5_000,
      mode: 'trailing',
      maxWaitMs: 50_000,
    })
    expect(define({ debounce: { period: '5s', maxWait: 'none' } }).policies.debounce?.maxWaitMs).toBeNull()
  })

  test('[J3] a batch takes 100 events, 10 MiB and 5 seconds', () => {
    expect(define({ batch: {} }).policies.batch).toMatchObject({ maxSize: 100, maxWaitMs: 5_000, maxBytes: 10_485_760 })
    expect(define({ batch: { maxBytes: '512KiB' } }).policies.batch?.maxBytes).toBe(524_288)
    expect(define({ batch: { outputs: 'each' } }).policies.batch).toMatchObject({
      outputs: 'each',
      retry: DEFAULT_RETRY,
    })
  })

  test('[H5] a throttle has a burst of one and a cost of one', () => {
    const { policies, rules } = define({ throttle: { limit: 10, period: '1m' } })
    expect([policies.throttle, rules.cost]).toEqual([{ limit: 10, periodMs: 60_000, burst: 1 }, null])
  })

  test('[H6] a rate limit has a limit and a period', () => {
    expect(define({ rateLimit: { limit: 1, period: '10s' } }).policies.rateLimit).toEqual({
      limit: 1,
      periodMs: 10_000,
    })
  })

  test('an idempotency key is kept for thirty days, and released by a failure', () => {
    const { policies } = define({ idempotency: { key: 'payload.id' } })
    const expected = { release: 'on_failure', ttlMs: 30 * 86_400_000, onConflict: 'return_existing' }
    expect(policies.idempotency).toEqual(expected)
  })

  test('a plain number is a concurrency limit on steps of this handler', () => {
    expect(define({ concurrency: 3 }).concurrency).toEqual([
      { scope: 'handler', key: null, limit: 3, total: null, weight: 1, unit: 'step' },
    ])
  })

  test.each<[FlowSource, boolean]>([
    [{ concurrency: 3 }, false],
    [{ priority: 5 }, false],
    [{ whilePaused: 'suppress', overlap: 'allow' }, false],
    [{ whilePaused: 'hold' }, true],
    [{ overlap: 'skip' }, true],
    [{ rateLimit: { limit: 1, period: '1s' } }, true],
    [{ batch: {} }, true],
  ])('%j needs a gate: %s', (options, isStateful) => {
    expect(define(options).isStateful).toBe(isStateful)
  })
})

describe('the rules', () => {
  const payload = { id: 'o-1', customer: 7, size: 3, urgent: true }

  test('keys, cost and priority are compiled', () => {
    const { rules, fairness, concurrency } = define({
      idempotency: { key: 'payload.id' },
      rateLimit: { limit: 1, period: '1s', key: 'payload.customer' },
      debounce: { period: '1s', key: 'payload.id + "!"' },
      overlap: 'skip',
      overlapKey: 'payload.urgent',
      throttle: { limit: 9, period: '1s', key: 'payload.customer', cost: 'payload.size' },
      priority: 'payload.size * 60',
      fairness: { key: 'payload.customer' },
      concurrency: [{ limit: 2, key: 'payload.id' }],
    })
    const asked = [...Object.values(rules), fairness?.key, concurrency[0]?.key].map((rule) => {
      const answer = rule?.({ payload, event: {} })
      return answer?.kind === 'value' ? answer.value : null
    })
    expect(asked).toEqual(['o-1', 7, 'o-1!', true, 7, 3, 180, null, 7, 'o-1'])
  })

  test('a constant cost or priority becomes a rule that always returns it', () => {
    const { rules } = define({ throttle: { limit: 9, period: '1s', cost: 2 }, priority: -60 })
    expect([rules.cost?.({}), rules.priority?.({})]).toEqual([
      { kind: 'value', value: 2 },
      { kind: 'value', value: -60 },
    ])
  })

  test('[J3] an event that does not match the batch condition runs alone, and a condition that is not boolean is an error', () => {
    const { alone, windowKey } = define({ batch: { if: 'payload.urgent', key: 'payload.id' } }).rules
    expect(alone?.({ payload })).toEqual({ kind: 'value', value: false })
    expect(alone?.({ payload: { urgent: false } })).toEqual({ kind: 'value', value: true })
    expect(alone?.({ payload: { urgent: 1 } })).toMatchObject({ kind: 'error' })
    expect(alone?.({ payload: {} })).toMatchObject({ kind: 'error' })
    expect(windowKey?.({ payload })).toEqual({ kind: 'value', value: 'o-1' })
  })
})

describe('refusals', () => {
  const period = '1s'

  test.each<[string, unknown]>([
    ['rateLimit.limit', { rateLimit: { limit: 0, period } }],
    ['rateLimit.limit', { rateLimit: { limit: 10_001, period } }],
    ['rateLimit.limit', { rateLimit: { limit: 1.5, period } }],
    ['rateLimit.period', { rateLimit: { limit: 1, period: '999ms' } }],
    ['rateLimit.period', { rateLimit: { limit: 1, period: '31d' } }],
    ['rateLimit.period', { rateLimit: { limit: 1, period: 'soon' } }],
    ['debounce.period', { debounce: { period: '99ms' } }],
    ['debounce.period', { debounce: { period: '8d' } }],
    ['debounce.maxWait', { debounce: { period: '5s', maxWait: '4s' } }],
    ['debounce.mode', { debounce: { period, mode: 'both' } }],
    ['batch.maxSize', { batch: { maxSize: 1_001 } }],
    ['batch.maxBytes', { batch: { maxBytes: '11MiB' } }],
    ['batch.maxBytes', { batch: { maxBytes: 'much' } }],
    ['throttle.period', { throttle: { limit: 1, period: '8d' } }],
    ['throttle.burst', { throttle: { limit: 1, period, burst: 0 } }],
    ['throttle.cost', { throttle: { limit: 1, period, cost: 0 } }],
    ['overlap', { overlap: 'maybe' }],
    ['overlapKey', { overlapKey: 'payload.id' }],
    ['whilePaused', { whilePaused: 'wait' }],
    ['idempotency.key', { idempotency: {} }],
    ['idempotency.scope', { idempotency: { key: 'payload.id', scope: 'global' } }],
    ['idempotency.scope', { idempotency: { key: 'payload.id', scope: 'session' } }],
    ['idempotency.ttl', { idempotency: { key: 'payload.id', ttl: '0s' } }],
    ['priority', { priority: 86_401 }],
    ['concurrency', { concurrency: Array.from({ length: 9 }, () => ({ limit: 1 })) }],
    ['concurrency.0.limit', { concurrency: 0 }],
    ['concurrency.1.weight', { concurrency: [{ limit: 2 }, { limit: 2, weight: 3 }] }],
    ['concurrency.0.scope', { concurrency: [{ limit: 2, scope: 'town' }] }],
    ['fairness.weight', { fairness: { key: 'payload.id', weight: 0 } }],
    ['fairness.key', { fairness: {} }],
  ])('%s is named when %j does not fit', (path, options) => {
    expect(refusalOf(options)).toEqual(['MANIFEST_INVALID', `functions.f.${path}`])
  })

  test('batch and debounce together are refused', () => {
    expect(refusalOf({ batch: {}, debounce: { period } })).toEqual(['POLICY_CONFLICT', 'functions.f'])
  })

  test('a batch cannot be limited by a key in which its events may differ', () => {
    const concurrency = [{ limit: 1, key: 'payload.b' }]
    expect(refusalOf({ batch: { key: 'payload.a' }, concurrency })[0]).toBe('POLICY_CONFLICT')
    expect(refusalOf({ batch: { key: 'payload.b' }, concurrency })[0]).toBe('nothing was refused')
  })

  test('[H5] a cost above the limit could never start', () => {
    expect(refusalOf({ throttle: { limit: 2, period, cost: 3 } })).toEqual([
      'COST_TOO_HIGH',
      'functions.f.throttle.cost',
    ])
  })

  test('an invalid expression is refused with its path', () => {
    expect(refusalOf({ throttle: { limit: 2, period, key: 'payload.' } })).toEqual([
      'EXPR_REJECTED',
      'functions.f.throttle.key',
    ])
  })
})

describe('shared budgets', () => {
  const system = (options: FlowSource, shared = { mail: { limit: 10, period: '1s' } }): SystemSource => ({
    name: 'mailing',
    limits: { shared },
    functions: [{ name: 'send', options, code: () => null }],
  })
  const throttleIn = (source: SystemSource) =>
    normalise(source, (text) => text).functions.get('send')?.flow?.policies.throttle

  test('[H5] a throttle takes its settings from the shared budget that it names', () => {
    const throttle = { limit: 10, periodMs: 1_000, burst: 1, shared: 'mail' }
    expect(throttleIn(system({ throttle: { shared: 'mail' } }))).toEqual(throttle)
  })

  test('[H5] an unknown budget, and a cost above its limit, are refused', () => {
    expect(() => throttleIn(system({ throttle: { shared: 'post' } }))).toThrow('it has mail')
    expect(() => throttleIn(system({ throttle: { shared: 'mail', cost: 11 } }))).toThrow('more than the limit of 10')
  })
})
