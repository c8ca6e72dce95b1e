/** A person's word on a step in doubt while the run is still in memory, because another of its steps is at work. */
import { expect, test } from 'vitest'
import { fn } from '../../src/executors/workflow/function.ts'
import { startTestSystem } from '../../src/testing/system.ts'
import { onEveryStore } from '../support/stores.ts'

onEveryStore('doubt', (store) => {
  for (const verdict of ['happened', 'run_again', 'abort'] as const) {
    test(`[R6][V13] a word that comes before the run is parked moves it on: ${verdict}`, async () => {
      let tries = 0
      let finish: (result: string) => void = () => {}
      const charge = (): string => {
        tries += 1
        if (tries === 1) throw new Error('connection lost')
        return 'charged'
      }
      const pack = (): Promise<string> =>
        new Promise((resolve) => {
          finish = resolve
        })
      const order = fn('order', {}, ({ step }) =>
        Promise.all([step.run('charge', charge, { effect: 'once' }), step.run('pack', pack)]),
      )
      const system = await startTestSystem({ name: 'doubt', functions: [order] }, store())
      const run = await system.start('order')
      await system.settle()
      await system.run(() => system.engine.resolve(run, 'charge', { verdict, by: 'ana', result: 'charged' }))
      finish('packed')
      await system.advance('1h')
      expect((await system.look(run)).status).toBe(verdict === 'abort' ? 'failed' : 'success')
      expect(tries).toBe(verdict === 'run_again' ? 2 : 1)
      await system.close()
    })
  }
})
