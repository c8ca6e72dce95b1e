/**
 * What people answered, as the output of the handler that asked: under the names of the wire, because other handlers and manifests read it.
 *
 * Owns that shape, for every modality that asks.
 */
import type { Json } from '#model/kernel/json.ts'
import { decisionData } from '#model/task/view.ts'
import type { AskReply } from '#ports/step-port.ts'

export const taskOutput = (reply: AskReply): Json => ({
  ...(decisionData(reply.task, reply) as { readonly [name: string]: Json }),
  task_id: reply.task,
  status: reply.status,
  revision: reply.revision,
})
