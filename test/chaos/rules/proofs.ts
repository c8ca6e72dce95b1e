/** Every rule that is proved outside of the simulation, with its seeded mistakes. */
import { handOffs, requesters, retriedAgents } from './agents.ts'
import { merging } from './drafts.ts'
import { approvals, rendering } from './plans.ts'
import type { Proof } from './proof.ts'
import { keyedRequests } from './requests.ts'
import { quorums } from './votes.ts'

export const PROOFS: readonly Proof[] = [
  retriedAgents,
  handOffs,
  requesters,
  rendering,
  approvals,
  merging,
  quorums,
  keyedRequests,
]
