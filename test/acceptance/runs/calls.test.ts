/** Calls by name: with the result at once, or with a handle to ask later. */
import { expect, test } from 'vitest'
import { fn } from '#executors/workflow/function.ts'
import { onEveryStore } from '#test/support/stores/stores.ts'
import { startTestSystem } from '#testing/system.ts'

const SYSTEM = {
  name: 'calls',
  functions: [
    fn<number>('double', {}, ({ input }) => input * 2),
    fn<number>('slow', {}, async ({ input, step }) => {
      await step.sleep('think', '1h')
      return input * 2
    }),
  ],
}

onEveryStore('calls', (store) => {
  test("[F1] a caller waits for the result, and gets the run's current state when its wait ends", async () => {
    const system = await startTestSystem(SYSTEM, store())
    const quick = await system.start('double', 21)
    expect(await system.run(() => system.engine.result(quick, { waitMs: 1_000 }))).toMatchObject({
      status: 'success',
      output: 42,
    })
    const slow = await system.start('slow', 21)
    await system.settle()
    expect(await system.run(() => system.engine.result(slow, { waitMs: 0 }))).toMatchObject({
      status: 'waiting',
      output: null,
    })
    await system.close()
  })

  test('[F2] a handle is returned at once and stays valid: across a crash, and for any caller', async () => {
    const system = await startTestSystem(SYSTEM, store())
    const handle = await system.start('slow', 21)
    expect(handle).toMatch(/^run_[0-9a-f]{32}$/)
    await system.crash()
    expect((await system.look(handle)).status).toBe('waiting')
    await system.advance('2h')
    expect(await system.look(handle)).toMatchObject({ run: handle, status: 'success', output: 42 })
    await system.close()
  })
})
