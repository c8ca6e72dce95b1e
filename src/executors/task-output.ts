/**
 * What people answered, as the output of whoever asked them: under the names of the wire, since other handlers and manifests read it.
 *
 * Owns that shape, for every hand that asks.
 */
import type { Json } from '#model/kernel/json.ts'
import { decisionData } from '#model/task/view.ts'
import type { AskReply } from '#ports/step-gate.ts'

export const taskOutput = (reply: AskReply): Json => ({
  ...(decisionData(reply.task, reply) as { readonly [name: string]: Json }),
  task_id: reply.task,
  status: reply.status,
  revision: reply.revision,
})
