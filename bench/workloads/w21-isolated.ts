/** W21: a call of a function with one step whose module runs in isolated processes, compared with the same call in the host's process. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createTrihand } from '#compose/assemble.ts'
import { fn } from '#executors/workflow/function.ts'
import type { SystemSource } from '#manifest/define/define.ts'
import { type Measurement, median } from '../report.ts'
import type { BenchLedger } from '../target.ts'

const CALLS = 100
const CODE = `export default ({ input, step }) => step.run('add', () => input.n + 1)\n`

const systemIn = (folder: string): SystemSource => ({
  ...{ name: 'isolated', folder },
  modules: [{ name: 'away', isolation: 'process', functions: ['away'] }],
  functions: [
    fn('away', {}, { file: 'away.js' }),
    fn<{ n: number }>('here', {}, ({ input, step }) => step.run('add', () => input.n + 1)),
  ],
})

export const isolatedCalls = async (ledger: BenchLedger): Promise<readonly Measurement[]> => {
  const folder = mkdtempSync(join(tmpdir(), 'trihand-bench-'))
  mkdirSync(join(folder, 'modules/away'), { recursive: true })
  writeFileSync(join(folder, 'modules/away/away.js'), CODE)
  const place = ledger.fresh()
  const { database, schema } = place
  const app = await createTrihand({ system: systemIn(folder), database, ...(schema !== null && { schema }) })
  const timesOf = async (name: string): Promise<readonly number[]> => {
    const times: number[] = []
    for (let n = 0; n < CALLS; n++) {
      const since = performance.now()
      await app.call(name, { n })
      times.push(performance.now() - since)
    }
    return times
  }
  const [start = 0] = await timesOf('away')
  const here = median(await timesOf('here'))
  const away = median(await timesOf('away'))
  await app.close()
  await place.remove()
  rmSync(folder, { recursive: true, force: true })
  return [
    { metric: 'ms per call of isolated code ÷ in process', value: away / here, unit: '×' },
    { metric: 'ms per call of isolated code, p50', value: away, unit: 'ms' },
    { metric: 'ms of the first call, with the start of its process', value: start, unit: 'ms' },
  ]
}
