/**
 * `npm run bench -- [--only W1,W2] [--ledger sqlite|postgres] [--dispatcher restate] [--rounds 3] [--quick] [--json] [--out file]`:
 * measures raw limits first, then the product, and reports medians over the rounds.
 *
 * Each round measures its raw limit again right before the workload, because a machine may be twice as fast a minute later.
 * `--dispatcher restate` measures only W3, on Postgres with a Restate server that wakes the workers.
 * Exits with 1 if a required target is missed. `--quick` runs one round of W1 to W3, W7 and W13 to W15 and only shows the figures. The
 * figures in documents are written from the JSON of a run.
 */
import { writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { startRestate } from '#test/support/serving/restate.ts'
import { startPostgres } from '#test/support/stores/postgres.ts'
import { measuredApart } from './apart.ts'
import { askForRestate } from './dispatcher.ts'
import { document, judge, type Measurement, overRounds, type Result, row } from './report.ts'
import { type BenchLedger, postgresLedger, sqliteLedger } from './target.ts'
import { sequentialSteps } from './workloads/w1-sequential.ts'
import { parallelRuns } from './workloads/w2-parallel.ts'
import { idleLatency, idleLatencyOnRestate } from './workloads/w3-latency.ts'
import { parkedRuns, resumedRuns } from './workloads/w4-parked.ts'
import { longRun } from './workloads/w5-long-run.ts'
import { sessionFork } from './workloads/w6-fork.ts'
import { coldStart } from './workloads/w7-start.ts'
import { manyWorkers } from './workloads/w8-workers.ts'
import { largeManifestLoad } from './workloads/w9-manifest.ts'
import { agentOverhead } from './workloads/w10-agent.ts'
import { campaignEvents } from './workloads/w11-campaign.ts'
import { longLists } from './workloads/w12-lists.ts'
import { besideOthers, wokenByValue } from './workloads/w13-wakes.ts'
import { planChain } from './workloads/w14-chain.ts'
import { fanOut } from './workloads/w15-fan-out.ts'
import { encryptionCost } from './workloads/w16-encryption.ts'
import { callersAtOnce, messagesAtOnce } from './workloads/w17-crowd.ts'
import { writersOfOneSession } from './workloads/w19-session-writers.ts'
import { checkedFacts } from './workloads/w20-checked-facts.ts'
import { isolatedCalls } from './workloads/w21-isolated.ts'

interface Workload {
  readonly name: string
  readonly measure: (ledger: BenchLedger) => Promise<readonly Measurement[]>
  /** Long workloads are measured once: they are large enough to be steady. */
  readonly once?: boolean
  /** The workload is compared with a raw limit. */
  readonly isBesideRaw?: boolean
}

const WORKLOADS: readonly Workload[] = [
  { name: 'W1', measure: (ledger) => sequentialSteps(ledger), isBesideRaw: true },
  { name: 'W2', measure: (ledger) => parallelRuns(ledger), isBesideRaw: true },
  { name: 'W3', measure: idleLatency, isBesideRaw: true },
  { name: 'W4', measure: resumedRuns },
  { name: 'W4', measure: parkedRuns, once: true },
  { name: 'W5', measure: longRun },
  { name: 'W6', measure: sessionFork, once: true },
  { name: 'W7', measure: coldStart },
  { name: 'W8', measure: manyWorkers, once: true },
  { name: 'W9', measure: largeManifestLoad },
  { name: 'W10', measure: agentOverhead },
  { name: 'W11', measure: campaignEvents, once: true },
  { name: 'W12', measure: (ledger) => longLists(ledger, values.quick), once: true },
  { name: 'W13', measure: wokenByValue },
  { name: 'W13', measure: (ledger) => besideOthers(ledger, values.quick), once: true },
  { name: 'W14', measure: (ledger) => planChain(ledger, values.quick) },
  { name: 'W15', measure: fanOut },
  { name: 'W16', measure: encryptionCost },
  { name: 'W17', measure: callersAtOnce, once: true },
  { name: 'W18', measure: messagesAtOnce, once: true },
  { name: 'W19', measure: writersOfOneSession, once: true },
  { name: 'W20', measure: checkedFacts, once: true },
  { name: 'W21', measure: isolatedCalls },
]

const { values } = parseArgs({
  options: {
    only: { type: 'string' },
    ledger: { type: 'string' },
    dispatcher: { type: 'string' },
    rounds: { type: 'string', default: '3' },
    quick: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
    out: { type: 'string' },
  },
})
const rounds = values.quick ? 1 : Number(values.rounds)
const only = values.only ?? (values.quick ? 'W1,W2,W3,W7,W13,W14,W15' : undefined)
const isOnRestate = values.dispatcher === 'restate'
const chosen = isOnRestate
  ? [{ name: 'W3', measure: idleLatencyOnRestate, isBesideRaw: true }]
  : WORKLOADS.filter(({ name }) => only === undefined || only.split(',').includes(name))
const say = (text: string): void => void process.stderr.write(`${text}\n`)

const measureRaw = async (ledgerWithRaw: () => Promise<BenchLedger>): Promise<BenchLedger> => {
  const ledger = await ledgerWithRaw()
  const { commitMs, rowsPerSecond } = ledger.raw
  say(`${ledger.kind}: raw commit ${commitMs.toFixed(3)} ms, raw batched rows ${Math.round(rowsPerSecond)}/s`)
  return ledger
}

const measureAll = async (ledgerWithRaw: () => Promise<BenchLedger>): Promise<readonly Result[]> => {
  let ledger = await measureRaw(ledgerWithRaw)
  const results: Result[] = []
  for (const { name, measure, once, isBesideRaw } of chosen) {
    const all: (readonly Measurement[])[] = []
    for (let i = 0; i < (once === true ? 1 : rounds); i++) {
      if (isBesideRaw === true) ledger = await measureRaw(ledgerWithRaw)
      all.push(await measure(ledger))
    }
    for (const measurement of overRounds(all)) {
      const result = judge(name, ledger.kind, measurement)
      results.push(result)
      say(row(result))
    }
  }
  return results
}

const measurePostgres = async (): Promise<readonly Result[]> => {
  const server = await startPostgres()
  const restate = isOnRestate ? await startRestate() : null
  if (restate !== null) askForRestate(restate)
  try {
    return await measureAll(() => postgresLedger(server.url))
  } finally {
    await restate?.stop()
    await server.stop()
  }
}

const measure = async (): Promise<readonly Result[]> => {
  if (isOnRestate || values.ledger === 'postgres') return measurePostgres()
  if (values.ledger === 'sqlite') return measureAll(sqliteLedger)
  return [...measuredApart('sqlite'), ...measuredApart('postgres')]
}

const results = await measure()
if (values.json) process.stdout.write(`${document(results, rounds)}\n`)
if (values.out !== undefined) writeFileSync(values.out, `${document(results, rounds)}\n`)
const failed = results.filter(({ holds }) => holds === false)
say(
  failed.length === 0
    ? 'every target holds'
    : `${failed.length} of ${results.filter(({ holds }) => holds !== null).length} targets do not hold`,
)
process.exit(failed.length === 0 || values.quick ? 0 : 1)
