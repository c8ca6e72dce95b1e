/** The process that is frozen: a worker that starts payments on command and reports what their code does. */
import { writeSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { createTrihand } from '#compose/assemble.ts'
import { KINDS, LEASE_MS, shopOf } from './shop.ts'

export interface WorkerInput {
  readonly database: string
}

export type WorkerLine =
  | { readonly kind: 'ready' }
  | { readonly kind: 'begun' | 'effect' | 'over'; readonly run: string }

const say = (line: WorkerLine): void => void writeSync(process.stdout.fd, `${JSON.stringify(line)}\n`)

const { database } = JSON.parse(process.argv[2] ?? '') as WorkerInput
const system = shopOf({ say: (kind, run) => say({ kind, run }) })
const trihand = await createTrihand({ system, database, leaseTtl: LEASE_MS })
say({ kind: 'ready' })

const orders = createInterface({ input: process.stdin })
orders.on('line', () => void Promise.all(KINDS.map((kind) => trihand.start(kind))))
orders.on('close', () => process.exit(0))
