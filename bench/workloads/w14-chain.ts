/** W14: a plan whose steps follow each other, compared with a function that calls the same functions in sequence. */
import type { Trihand } from '#compose/assemble.ts'
import { fn } from '#executors/workflow/function.ts'
import type { SystemSource } from '#manifest/define/define.ts'
import { atMost, type Measurement, median } from '../report.ts'
import { type BenchLedger, open } from '../target.ts'

const TIMES = 1.3
const MEASURED = 5
const MEASURED_QUICKLY = 1
const CHAIN_STEPS = 400
const CHAIN = Array.from({ length: CHAIN_STEPS }, (_, i) => `s${i}`)

/** A separate system: reading 400 steps is the cost of a large manifest (W9), not of every start. */
const SYSTEM: SystemSource = {
  name: 'chain',
  functions: [
    fn<{ readonly n: number }>('add', {}, ({ input }) => input.n + 1),
    fn('chain-as-plan', {
      plan: {
        approve: 'auto',
        steps: CHAIN.map((id, i) => ({
          id,
          assignedTo: 'add',
          inputs: { n: i === 0 ? 0 : { expr: `steps.${CHAIN[i - 1]}.output` } },
        })),
      },
    }),
    fn('chain-as-code', {}, async ({ step }) => {
      let n = 0
      for (const id of CHAIN) n = (await step.invoke(id, 'add', { n })) as number
      return n
    }),
  ],
}

const timed = async (app: Trihand, name: string): Promise<number> => {
  const since = performance.now()
  const run = await app.start(name, { n: 0 })
  await app.result(run)
  return performance.now() - since
}

export const planChain = async (ledger: BenchLedger, isQuick: boolean): Promise<readonly Measurement[]> => {
  const measured = isQuick ? MEASURED_QUICKLY : MEASURED
  const place = ledger.fresh()
  const app = await open(place, undefined, { system: SYSTEM })
  const [plan, code]: [number[], number[]] = [[], []]
  // The two alternate, so that both meet the same state of the machine. The first round warms up the compiler.
  for (let i = 0; i <= measured; i++) {
    code.push(await timed(app, 'chain-as-code'))
    plan.push(await timed(app, 'chain-as-plan'))
  }
  await app.close()
  await place.remove()
  const [planMs, codeMs] = [median(plan.slice(1)), median(code.slice(1))]
  return [
    {
      metric: `a chain of ${CHAIN_STEPS} plan steps ÷ as code`,
      value: planMs / codeMs,
      unit: '×',
      target: atMost(TIMES),
    },
    { metric: `a chain of ${CHAIN_STEPS} plan steps`, value: planMs, unit: 'ms' },
  ]
}
