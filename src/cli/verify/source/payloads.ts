/**
 * The blobs that a fact names: the members in which its type keeps a payload.
 *
 * Reads only those members. A user's own value may look like a reference to a blob without being one.
 */
import type { Body } from './fact.ts'

const blobOf = (payload: Body): string | null => payload.orNull('blob', (name) => payload.text(name))

const payloadsOf = (type: string, body: Body): readonly (Body | null)[] => {
  const at = (owner: Body | null, name: string): Body | null =>
    owner?.orNull(name, (field) => owner.body(field)) ?? null
  switch (type) {
    case 'run.started':
      return [at(at(body, 'input'), 'payload')]
    case 'run.completed':
      return [at(body, 'output')]
    case 'step.completed':
    case 'step.resolved':
    case 'step.late_result':
      return [at(body, 'result')]
    case 'child.ended':
      return [at(at(body, 'end'), 'result')]
    case 'step.reused':
      return [at(at(body, 'settled'), 'result')]
    case 'session.changed':
      return at(body, 'set')?.bodies() ?? []
    default:
      return []
  }
}

/** Also empty if the body has another shape: the checks that read it in full report that. */
export const blobsNamedBy = (type: string, body: Body): readonly string[] => {
  try {
    return payloadsOf(type, body).flatMap((payload) => (payload === null ? [] : (blobOf(payload) ?? [])))
  } catch {
    return []
  }
}
