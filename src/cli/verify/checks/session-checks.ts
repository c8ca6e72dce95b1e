/**
 * Checks the facts of a session: every checkpoint has known parents, and its document is stored.
 *
 * The chain itself is checked as of any stream (chain-checks.ts).
 */
import type { Findings, Place } from '#cli/verify/report.ts'
import type { Body } from '#cli/verify/source/fact.ts'

interface Checkpoint {
  readonly id: string
  readonly parents: readonly string[]
  readonly root: string
}

const readCheckpoint = (body: Body): Checkpoint => ({
  id: body.text('id'),
  parents: body.texts('parents'),
  root: body.text('root'),
})

/** The checkpoint in a fact: the first one of a fork, or one of its own. Null: none. */
const checkpointOf = (
  type: string,
  body: Body,
): { readonly checkpoint: Checkpoint; readonly isBase: boolean } | null => {
  if (type === 'session.checkpointed') return { checkpoint: readCheckpoint(body.body('checkpoint')), isBase: false }
  const base = type === 'session.created' ? body.orNull('base', (name) => body.body(name)) : null
  return base && { checkpoint: readCheckpoint(base.body('checkpoint')), isBase: true }
}

export class SessionChecks {
  readonly #findings: Findings
  readonly #known = new Set<string>()

  constructor(findings: Findings) {
    this.#findings = findings
  }

  /** Returns the blobs with the documents of its checkpoints. */
  next(type: string, body: Body, place: Place): readonly string[] {
    try {
      const found = checkpointOf(type, body)
      if (found === null) return []
      const { checkpoint, isBase } = found
      if (!isBase) this.#checkParents(checkpoint, place)
      this.#known.add(checkpoint.id)
      return [checkpoint.root]
    } catch {
      this.#findings.expect('V26', false, place, () => `${type} cannot be read`)
      return []
    }
  }

  #checkParents({ id, parents }: Checkpoint, place: Place): void {
    for (const parent of parents) {
      this.#findings.expect(
        'V26',
        this.#known.has(parent),
        place,
        () => `checkpoint ${id} has the parent ${parent}, which this session does not have`,
      )
    }
    this.#findings.expect('V26', !this.#known.has(id), place, () => `checkpoint ${id} is created twice`)
  }
}
