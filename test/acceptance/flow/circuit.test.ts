/** Circuit breakers: calls of a failing target are held back, the target is probed, and calls resume when it succeeds. */
import { expect, test } from 'vitest'
import { fn } from '#executors/workflow/function.ts'
import { LOCAL_TENANT } from '#model/kernel/ids.ts'
import type { StepContext } from '#ports/step-port.ts'
import { onEveryStore } from '#test/support/stores/stores.ts'
import { startTestSystem, type TestSystem } from '#testing/system.ts'

const SOON = { baseMs: 1, factor: 1, maxMs: 1 }
const CIRCUIT = { key: 'bank', window: 4, minCalls: 2, failureRate: 0.5, openFor: '30s' } as const

const told = async ({ store }: TestSystem, type: string): Promise<number> =>
  (await store.reader.events({ tenant: LOCAL_TENANT, type: `trihand.circuit.${type}`, before: null, limit: 99 })).length

onEveryStore('circuit', (store) => {
  test('[I7] it opens after failures, parks runs without using an attempt, probes with one and closes', async () => {
    let isWell = false
    const calls: number[] = []
    const pay = fn('pay', { circuit: CIRCUIT }, ({ step }) => {
      const charge = ({ attempt }: StepContext): string => {
        calls.push(attempt)
        if (!isWell) throw new Error('the bank does not answer')
        return 'paid'
      }
      return step.run('charge', charge, { retry: { maxAttempts: 3, ...SOON } })
    })
    const system = await startTestSystem({ name: 'bank', functions: [pay] }, store())
    const first = await system.start('pay')
    await system.advance('1s')
    // Two attempts open the breaker; the third attempt waits.
    expect(calls).toEqual([1, 2])
    const others = [await system.start('pay'), await system.start('pay')]
    await system.advance('20s')
    expect(calls).toEqual([1, 2])
    expect((await system.look(first)).status).toBe('waiting')
    await system.crash()
    await system.advance('1s')
    expect([calls.length, await told(system, 'opened')]).toEqual([2, 1])
    isWell = true
    await system.advance('40s')
    for (const run of [first, ...others])
      expect(await system.look(run)).toMatchObject({ status: 'success', output: 'paid' })
    // The third attempt of the first run, and the first attempts of the others.
    expect([...calls].sort()).toEqual([1, 1, 1, 2, 3])
    expect([await told(system, 'half_opened'), await told(system, 'closed')]).toEqual([1, 1])
    await system.close()
  })

  test('[I7] with an expression as key each target has its own breaker, also after a crash', async () => {
    const calls: string[] = []
    const circuit = { ...CIRCUIT, key: { expr: 'payload.bank' } }
    const pay = fn<{ bank: string }>('pay', { circuit }, ({ input, step }) => {
      const charge = (): string => {
        calls.push(input.bank)
        if (input.bank === 'north') throw new Error('the bank does not answer')
        return 'paid'
      }
      return step.run('charge', charge, { retry: { maxAttempts: 3, ...SOON } })
    })
    const system = await startTestSystem({ name: 'bank', functions: [pay] }, store())
    await system.start('pay', { bank: 'north' })
    await system.advance('1s')
    await system.crash()
    const south = await system.start('pay', { bank: 'south' })
    await system.start('pay', { bank: 'north' })
    await system.advance('10s')
    expect(calls).toEqual(['north', 'north', 'south'])
    expect(await system.look(south)).toMatchObject({ status: 'success' })
    await system.close()
  })

  test('[I7] a failed probe opens the breaker for twice as long', async () => {
    let calls = 0
    const pay = fn('pay', { circuit: CIRCUIT }, ({ step }) => {
      const charge = (): never => {
        calls += 1
        throw new Error('the bank does not answer')
      }
      return step.run('charge', charge, { retry: { maxAttempts: 9, ...SOON } })
    })
    const system = await startTestSystem({ name: 'bank', functions: [pay] }, store())
    await system.start('pay')
    await system.advance('31s')
    expect(calls).toBe(3)
    await system.advance('55s')
    expect(calls).toBe(3)
    await system.advance('10s')
    expect(calls).toBe(4)
    await system.close()
  })

  test('[I7] with whenOpen fail the step fails at once with CIRCUIT_OPEN', async () => {
    const options = { retry: { maxAttempts: 1 }, circuit: { ...CIRCUIT, whenOpen: 'fail' } } as const
    const pay = fn('pay', options, ({ step }) => {
      const charge = (): never => {
        throw new Error('the bank does not answer')
      }
      return step.run('charge', charge, { retry: { maxAttempts: 1 } })
    })
    const system = await startTestSystem({ name: 'bank', functions: [pay] }, store())
    const errors: string[] = []
    for (let i = 0; i < 3; i++) {
      const run = await system.start('pay')
      await system.settle()
      errors.push((await system.look(run)).error?.message ?? '')
    }
    expect(errors[1]).toContain('the bank does not answer')
    expect(errors[2]).toContain('bank failed too often')
    await system.close()
  })

  test('[I7] with whenOpen fallback the step performs its fallback while the breaker is open, and fails without one', async () => {
    let isWell = false
    const circuit = { ...CIRCUIT, whenOpen: 'fallback' } as const
    const charge = (): string => {
      if (!isWell) throw new Error('the bank does not answer')
      return 'paid'
    }
    const pay = fn<boolean>('pay', { circuit }, ({ step, input }) =>
      step.run('charge', charge, { retry: { maxAttempts: 1 }, ...(input && { fallback: () => 'noted' }) }),
    )
    const system = await startTestSystem({ name: 'bank', functions: [pay] }, store())
    const payNow = async (hasFallback: boolean) => {
      const run = await system.start('pay', hasFallback)
      await system.settle()
      const { status, output, error } = await system.look(run)
      return [status, output ?? error?.message]
    }
    // While the breaker is closed the step itself is performed, and its failures count.
    for (let i = 0; i < 2; i++) expect(await payNow(true)).toEqual(['failed', expect.stringContaining('not answer')])
    for (let i = 0; i < 5; i++) expect(await payNow(true)).toEqual(['success', 'noted'])
    expect(await payNow(false)).toEqual(['failed', expect.stringContaining('bank failed too often')])
    isWell = true
    await system.advance('30s')
    expect([await payNow(true), await told(system, 'closed')]).toEqual([['success', 'paid'], 1])
    await system.close()
  })
})
