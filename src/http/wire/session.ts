/** Sessions on the wire: their state, their checkpoints as a tree, and where a fork began. */
import type { SessionView } from '#engine/services/sessions.ts'
import type {
  Checkpoint,
  RememberedValue,
  Session,
  SessionDetail,
  SessionDifference,
  SessionMemory,
} from '#http/openapi/api.ts'
import { readSessionFact } from '#model/kernel/fact-codec.ts'
import type { Payload } from '#model/kernel/payload.ts'
import type { KeyDifference } from '#model/session/difference.ts'
import type { SealedFact } from '#ports/ledger.ts'
import type { SessionSummary } from '#ports/reader.ts'
import { isoTime } from './time.ts'

export const sessionDocument = ({ id, base, version, createdAt }: SessionSummary): Session => ({
  id,
  forked_from: base,
  version,
  created_at: isoTime(createdAt),
})

const valueDocument = (payload: Payload): RememberedValue =>
  'value' in payload ? { value: payload.value, bytes: null } : { value: null, bytes: payload.bytes }

const memoryDocument = (key: string, payload: Payload, isChanged: boolean): SessionMemory => ({
  key,
  ...valueDocument(payload),
  is_changed: isChanged,
})

export const differenceDocument = (a: string, b: string, differences: readonly KeyDifference[]): SessionDifference => ({
  a,
  b,
  items: differences.map(({ key, before, after }) => ({
    key,
    before: before === null ? null : valueDocument(before),
    after: after === null ? null : valueDocument(after),
  })),
})

export const sessionDetail = (
  summary: SessionSummary,
  { mode, head, changed, endedFor, memory }: SessionView,
  forks: readonly SessionSummary[],
): SessionDetail => ({
  ...sessionDocument(summary),
  status: endedFor === null ? 'live' : 'ended',
  mode,
  head: head?.id ?? null,
  memory: Object.entries(memory).map(([key, payload]) => memoryDocument(key, payload, changed.includes(key))),
  forks: forks.map(sessionDocument),
})

/** The start, the checkpoints and the end among these facts, the first of which has the number `first`. */
export const checkpointDocuments = (facts: readonly SealedFact[], first: number): readonly Checkpoint[] => {
  const marks: Checkpoint[] = []
  let changes = 0
  for (const [i, sealed] of facts.entries()) {
    const fact = readSessionFact(sealed)
    const place = { seq: first + i, at: isoTime(sealed.recordedAt), changes }
    if (fact.type === 'session.changed') {
      changes += 1
      continue
    }
    changes = 0
    if (fact.type === 'session.ended')
      marks.push({ ...place, kind: 'ended', id: null, parents: [], root: null, mode: null })
    else {
      const checkpoint = fact.type === 'session.created' ? (fact.base?.checkpoint ?? null) : fact.checkpoint
      const kind = fact.type === 'session.created' ? 'created' : 'checkpoint'
      const { id = null, parents = [], root = null } = checkpoint ?? {}
      marks.push({ ...place, kind, id, parents, root, mode: fact.mode })
    }
  }
  return marks
}
