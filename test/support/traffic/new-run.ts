/** The write that creates a run of the traffic: triggered by an event of the same append, or called by a parent. */
import { LOCAL_TENANT, type RunId } from '#model/kernel/ids.ts'
import { inline } from '#model/kernel/payload.ts'
import type { RunStart } from '#model/run/fact.ts'
import type { StreamWrite } from '#ports/ledger.ts'
import { OUTSIDE } from './letters.ts'
import { RunPen } from './run-pen.ts'
import type { Action } from './story.ts'

export interface Birth {
  readonly id: RunId
  readonly plan: readonly Action[]
  readonly now: number
  /** Null: the first event of the append triggers it. */
  readonly parent: { readonly run: RunId; readonly step: string } | null
}

export const newRun = ({ id, plan, now, parent }: Birth): StreamWrite => {
  const handler = parent === null ? 'traffic' : 'traffic-child'
  const start: RunStart = {
    handler,
    input: { kind: 'given', payload: inline(plan) },
    cause: parent === null ? null : { ...OUTSIDE, correlationId: parent.run },
    parentStep: parent?.step ?? null,
    depth: parent === null ? 0 : 1,
    deadlineAt: null,
    startBy: null,
  }
  const create = {
    tenant: LOCAL_TENANT,
    handler,
    systemHash: 'traffic',
    session: null,
    parent: parent?.run ?? null,
    event: parent === null ? 0 : null,
    lease: null,
    createdAt: now,
  }
  const pen = new RunPen(id, { parent: create.parent, base: 0, epoch: 0, signal: 0 })
  return pen.draft({ commands: [{ type: 'start_run', now, start }], now, release: false, create }).write
}
