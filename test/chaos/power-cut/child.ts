/**
 * The process whose power is cut and whose disk fails: writes traffic to a real ledger and acknowledges each append after it was
 * answered.
 *
 * Runs under the shim, which logs acknowledgements and disk operations in one order. Failed appends are repeated until they are answered.
 * Never closes the ledger (a close checkpoints): it prints `done` and waits to be killed.
 */
import { openSync, writeSync } from 'node:fs'
import { openSqlite } from '#adapters/storage/sqlite/open.ts'
import { insistentBlobs, insistentLedger, type Trouble } from '#test/support/insistent.ts'
import { Random } from '#test/support/random.ts'
import { Traffic } from '#test/support/traffic/traffic.ts'
import { breath } from '#test/support/until.ts'

export interface ChildInput {
  readonly file: string
  /** Ends in `.ack`: the shim recognises acknowledgements by that. */
  readonly ackFile: string
  readonly durability: 'full' | 'relaxed'
  /** Stops writing after this many; null: never. */
  readonly appends: number | null
  readonly seed: number
}

/** Its messages, one line each. */
export type ChildLine =
  | { readonly kind: 'acknowledged'; readonly appends: number }
  | { readonly kind: 'done' }
  | ({ readonly kind: 'trouble' } & Trouble)

const say = (line: ChildLine): void => {
  writeSync(process.stdout.fd, `${JSON.stringify(line)}\n`)
}

const input = JSON.parse(process.argv[2] ?? '') as ChildInput
const random = new Random(input.seed)
const { ledger, blobs } = await openSqlite({ file: input.file, durability: input.durability })
const report = (trouble: Trouble): void => say({ kind: 'trouble', ...trouble })
const acks = openSync(input.ackFile, 'a')
let appends = 0
const traffic = new Traffic({
  ledger: insistentLedger(ledger, report),
  blobs: insistentBlobs(blobs, report),
  random,
  width: 1 + random.below(12),
  acknowledge: (receipts) => {
    writeSync(acks, receipts.map((receipt) => `${JSON.stringify(receipt)}\n`).join(''))
    appends += receipts.length
    say({ kind: 'acknowledged', appends })
  },
})
process.stdin.on('end', () => process.exit(0)).resume()
while (appends < (input.appends ?? Number.POSITIVE_INFINITY)) {
  await traffic.turn()
  await breath()
}
say({ kind: 'done' })
