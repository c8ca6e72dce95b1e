/** Child process: resumes the run of `long`, with or without checking the facts that it loads, and stays until it is killed. */
import { CheckedLedger } from '#adapters/system/checked-ledger.ts'
import { SystemClock } from '#adapters/system/clock.ts'
import { SystemIds } from '#adapters/system/ids.ts'
import { joinEngine } from '#compose/assemble.ts'
import { ledgerChoice } from '#compose/config.ts'
import { openStore } from '#compose/stores.ts'
import { normalise } from '#manifest/define/define.ts'
import { benchSystem } from '../system.ts'

const [, , database = '', schema = '', how = 'checked'] = process.argv
const say = (text: string): void => void process.stdout.write(`${text}\n`)

const STEPS = 200
let last = 0
const times: number[] = []
const clock = new SystemClock()
const ids = new SystemIds()
const store = await openStore(ledgerChoice(database), schema === '' ? {} : { schema }, clock)
const ledger = how === 'checked' ? new CheckedLedger(store.ledger, ids) : store.ledger
const mark = (what: string): void => {
  if (what === 'last') say('last')
  if (what !== 'step') return
  const now = performance.now()
  times.push(now - last)
  last = now
}
const system = normalise(benchSystem({ mark }), (text) => ids.digest(text))
const options = { leaseTtl: Number(process.env['BENCH_LEASE_MS'] ?? 15_000) }
const engine = joinEngine({ ...store, ledger }, system, ids, clock, options)
await engine.start()
engine.subscribe(({ status, handler }) => {
  if (status === 'success' && handler === 'steps') say(`steps ${JSON.stringify(times)}`)
})
process.stdin.once('data', () => {
  times.length = 0
  last = performance.now()
  void engine.startRun('steps', { steps: STEPS })
})
setInterval(() => {}, 60_000)
