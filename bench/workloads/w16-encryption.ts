/** W16: the cost of encrypted payloads (`TRIHAND_LEDGER_KEY`): W1 and W2 with and without the key, one right after the other. */
import type { Measurement } from '../report.ts'
import type { BenchLedger } from '../target.ts'
import { sequentialSteps } from './w1-sequential.ts'
import { stepsAtOnce } from './w2-parallel.ts'

const LEDGER_KEY = 'the-ledger-key-of-the-bench-32-characters'

/** The first figure of a workload: with the key ÷ without. */
const ratio = async (measure: (ledgerKey: string) => Promise<readonly Measurement[]>): Promise<number> => {
  const [plain] = await measure('')
  const [encrypted] = await measure(LEDGER_KEY)
  return (encrypted?.value ?? Number.NaN) / (plain?.value ?? Number.NaN)
}

export const encryptionCost = async (ledger: BenchLedger): Promise<readonly Measurement[]> => [
  {
    metric: 'encrypted ÷ plain: ms per step (W1)',
    value: await ratio((key) => sequentialSteps(ledger, key)),
    unit: '×',
  },
  {
    metric: 'encrypted ÷ plain: steps per second (W2)',
    value: await ratio((key) => stepsAtOnce(ledger, { ledgerKey: key })),
    unit: '×',
  },
]
