/**
 * The functions that the workloads run, written with the public interface only.
 *
 * Owns the code of each workload. Shared by the bench and its child processes.
 */
import { fn } from '#executors/workflow/function.ts'
import type { SystemSource } from '#manifest/define/define.ts'

/** The functions call this when an event worth timing happens. */
export interface Probe {
  readonly mark: (what: string, n: number) => void
}

const BODY_500 = 'x'.repeat(480)

export const benchSystem = (probe: Probe): SystemSource => ({
  name: 'bench',
  events: {
    'run.many': null,
    'run.call': null,
    'run.idle': null,
    'run.park': null,
    'park.go': null,
    'run.seek': null,
    'seek.found': null,
  },
  functions: [
    fn<{ readonly steps: number }>('steps', {}, async ({ input, step }) => {
      for (let i = 0; i < input.steps; i++) {
        await step.run(`s${i}`, () => i)
        probe.mark('step', i)
      }
      return input.steps
    }),
    fn('ten', { trigger: 'run.many' }, async ({ step }) => {
      for (let i = 0; i < 10; i++) await step.run(`s${i}`, () => i)
      return 10
    }),
    fn('call', { trigger: 'run.call' }, async ({ step }) => {
      for (let i = 0; i < 10; i++) await step.run(`s${i}`, () => new Promise((resolve) => setTimeout(resolve, 20, i)))
      return 10
    }),
    fn<{ readonly n: number }>('idle', { trigger: 'run.idle' }, ({ input }) => {
      probe.mark('begun', input.n)
      return input.n
    }),
    fn('park', { trigger: 'run.park' }, async ({ step }) => {
      const go = await step.waitForEvent('go', { event: 'park.go' })
      return go.status
    }),
    fn('seek', { trigger: 'run.seek' }, async ({ step }) => {
      const found = await step.waitForEvent('found', { event: 'seek.found', match: 'payload.id' })
      return found.status
    }),
    fn<{ readonly n: number }>('add', {}, ({ input }) => input.n + 1),
    fn<{ readonly children: number }>('fan-out', {}, async ({ input, step }) => {
      const answers = Array.from({ length: input.children }, (_, n) =>
        step.invoke('child', 'add', { n }, { key: `${n}` }),
      )
      return (await Promise.all(answers)).length
    }),
    fn<{ readonly steps: number }>('long', {}, async ({ input, step }) => {
      for (let i = 0; i < input.steps; i++) {
        await step.run(`s${i}`, () => ({ i, body: BODY_500 }))
        probe.mark('step', i)
      }
      await step.run('last', async () => {
        probe.mark('last', input.steps)
        // With BENCH_HANG the step stays active until the process is killed; the next process runs without it.
        if (process.env['BENCH_HANG'] === '1') await new Promise(() => setTimeout(() => {}, 60_000))
        return null
      })
      return input.steps
    }),
    fn<{ readonly from: number; readonly to: number }>('remember', {}, async ({ input, step }) => {
      for (let i = input.from; i < input.to; i++) await step.run(`m${i}`, ({ remember }) => remember(`k${i % 10}`, i))
      return input.to
    }),
    fn('look', {}, async ({ step, recall }) => {
      const value = await recall('k1')
      return step.run('one', ({ remember }) => {
        remember('seen', true)
        return value
      })
    }),
  ],
})
