/** The system of the frozen workers: payments that may happen once, by code that checks before it acts and by code that does not. */
import { fn } from '#executors/workflow/function.ts'
import type { SystemSource } from '#manifest/define/define.ts'
import { FinalError } from '#model/run/step-failure.ts'
import { pause } from '#test/support/until.ts'

export const LEASE_MS = 1_000
export const TIMEOUT_MS = 500
/** Between the beginning of the step and its effect: time enough to be frozen. */
const THINK_MS = 60

export const KINDS = ['careful', 'plain'] as const
export type Kind = (typeof KINDS)[number]

export interface Outside {
  /** Reports that the body of a payment has begun, has acted, or can no longer act. */
  readonly say: (what: 'begun' | 'effect' | 'over', run: string) => void
}

export const shopOf = ({ say }: Outside): SystemSource => ({
  name: 'frozen',
  functions: KINDS.map((kind) =>
    fn(kind, {}, ({ step, run }) =>
      step.run(
        'charge',
        async ({ stillMine }) => {
          say('begun', run.id)
          try {
            await pause(THINK_MS)
            if (kind === 'careful' && !(await stillMine())) throw new FinalError('another worker has the run')
            say('effect', run.id)
            return 'paid'
          } finally {
            say('over', run.id)
          }
        },
        { effect: 'once', timeout: TIMEOUT_MS, input: { kind }, target: 'bank' },
      ),
    ),
  ),
})
