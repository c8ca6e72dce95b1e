/**
 * The process that is killed: a whole Trihand on a ledger, which takes events on stdin and reports on stdout what was acknowledged.
 *
 * It keeps no state of its own, so that it can die at any moment. An uncertain step is put to an operator, who asks the
 * world whether it happened; a quarantined run is retried.
 */
import { writeSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { restate } from '#adapters/dispatch/restate/restate.ts'
import { createTrihand } from '#compose/assemble.ts'
import type { IncomingEvent, Receipt } from '#engine/core/incoming.ts'
import { TrihandError } from '#model/kernel/errors.ts'
import { LOCAL_TENANT } from '#model/kernel/ids.ts'
import type { RunFact } from '#model/run/fact.ts'
import { isEnded } from '#model/run/status.ts'
import { insist } from '#test/support/insistent.ts'
import { pause } from '#test/support/until.ts'
import { Operator } from './operator.ts'
import { shop } from './shop.ts'

export interface ChildInput {
  readonly database: string
  readonly schema?: string
  readonly leaseTtlMs: number
  readonly world: string
  /** The control: acknowledges an event while it is only in memory. */
  readonly isHasty: boolean
  /** Absent: the store's own dispatcher. */
  readonly restate?: { readonly ingress: string; readonly admin: string }
}

export type ChildOrder =
  | { readonly kind: 'send'; readonly event: IncomingEvent }
  | { readonly kind: 'count' }
  | { readonly kind: 'close' }

export type ChildLine =
  /** `recoveryMs`: from opening the ledger to serving, without Node's own start. */
  | {
      readonly kind: 'ready'
      readonly worker: string
      readonly counts: Readonly<Record<string, number>>
      readonly recoveryMs: number
    }
  | { readonly kind: 'receipt'; readonly source: string; readonly id: string; readonly sequence: number }
  | { readonly kind: 'refused'; readonly id: string; readonly reason: string }
  | { readonly kind: 'step'; readonly run: string; readonly step: string }
  | { readonly kind: 'ended'; readonly run: string; readonly handler: string; readonly status: string }
  | { readonly kind: 'counts'; readonly counts: Readonly<Record<string, number>> }

/** How long the control keeps what it has acknowledged in memory: longer than any life after an acknowledgement. */
const HASTY_MS = 300

const say = (line: ChildLine): void => {
  writeSync(process.stdout.fd, `${JSON.stringify(line)}\n`)
}

const input = JSON.parse(process.argv[2] ?? '') as ChildInput
const openedAt = performance.now()
const trihand = await createTrihand({
  system: shop(input.world),
  database: input.database,
  ...(input.schema === undefined ? {} : { schema: input.schema }),
  leaseTtl: input.leaseTtlMs,
  ...(input.restate === undefined ? {} : { dispatcher: restate(input.restate) }),
})
const recoveryMs = performance.now() - openedAt
const operator = new Operator(trihand, input.world)

const tellFact = (run: string, fact: RunFact): void => {
  if (fact.type === 'step.completed') say({ kind: 'step', run, step: fact.step })
}

trihand.subscribe('runs', (notice) => {
  for (const fact of notice.facts) tellFact(notice.run, fact)
  if (isEnded(notice.status)) say({ kind: 'ended', run: notice.run, handler: notice.handler, status: notice.status })
  operator.notice(notice)
})

const receipt = (event: IncomingEvent, { id, sequence }: Pick<Receipt, 'id' | 'sequence'>): void =>
  say({ kind: 'receipt', source: event.source ?? 'app', id, sequence })

const send = async (event: IncomingEvent): Promise<void> => {
  if (input.isHasty) {
    receipt(event, { id: event.id ?? '', sequence: 0 })
    await pause(HASTY_MS)
  }
  try {
    const given = await trihand.send(event)
    if (!input.isHasty) receipt(event, given)
  } catch (error) {
    if (!(error instanceof TrihandError)) throw error
    say({ kind: 'refused', id: event.id ?? '', reason: error.message })
  }
}

const counts = async (): Promise<Readonly<Record<string, number>>> => {
  const found = await insist(
    'counts',
    () => trihand.reader.counts(LOCAL_TENANT),
    () => {},
  )
  return Object.fromEntries(found)
}

const pending = new Set<Promise<void>>()

const answer = async (order: Exclude<ChildOrder, { kind: 'close' }>): Promise<void> => {
  if (order.kind === 'send') return send(order.event)
  await operator.lookAround()
  say({ kind: 'counts', counts: await counts() })
}

const close = async (): Promise<void> => {
  await Promise.all(pending)
  await trihand.close()
  process.exit(0)
}

const obey = (order: ChildOrder): void => {
  if (order.kind === 'close') {
    void close()
    return
  }
  const answered = answer(order).finally(() => pending.delete(answered))
  pending.add(answered)
}

createInterface({ input: process.stdin })
  .on('line', (line) => obey(JSON.parse(line) as ChildOrder))
  .on('close', () => process.exit(0))
say({ kind: 'ready', worker: trihand.worker.id, counts: await counts(), recoveryMs })
await operator.lookAround()
