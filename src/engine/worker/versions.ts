/**
 * The versions of the system's definition in this ledger: which were loaded, since when, and how many open runs are pinned to each.
 *
 * Owns the record of what was loaded: a document of the server, by the definition's hash. Never stores a definition itself, and
 * never activates one: the process does that when it starts (compose/assemble.ts).
 *
 * versions-1  The time at which a definition was first loaded is kept, however often it is loaded again.
 */
import type { System } from '#manifest/define/system.ts'
import { type Instant, SERVER_TENANT, type TenantId } from '#model/kernel/ids.ts'
import type { Clock } from '#ports/clock.ts'
import type { DocumentWrite } from '#ports/ledger.ts'
import type { Reader } from '#ports/reader.ts'

interface Deps {
  note(documents: readonly DocumentWrite[]): Promise<void>
  readonly reader: Pick<Reader, 'document' | 'documents' | 'pinned'>
  readonly clock: Pick<Clock, 'now'>
}

export interface Version {
  readonly hash: string
  /** Null, like `seenAt`, if the version is known only from the runs that are pinned to it. */
  readonly name: string | null
  readonly seenAt: Instant | null
  readonly openRuns: number
  /** True if `openRuns` is only a lower bound. */
  readonly more: boolean
}

interface Loaded {
  readonly name: string
  readonly at: Instant
}

const TABLE = 'trihand.system'
const PAGE = 200
const MOST_COUNTED = 10_000

export class Versions {
  private readonly deps: Deps

  constructor(deps: Deps) {
    this.deps = deps
  }

  /** Records that this definition is in force from now on. */
  async loaded({ hash, name }: Pick<System, 'hash' | 'name'>): Promise<void> {
    const { note, reader, clock } = this.deps
    if ((await reader.document(SERVER_TENANT, TABLE, hash)) !== null) return
    await note([{ tenant: SERVER_TENANT, table: TABLE, key: hash, value: { name, at: clock.now() } }])
  }

  /** Returns the versions, newest first, with the counts of the tenant's runs. */
  async list(tenant: TenantId): Promise<readonly Version[]> {
    const [known, pinned] = await Promise.all([this.known(), this.deps.reader.pinned(tenant, MOST_COUNTED)])
    const counts = new Map(pinned.map((one) => [one.hash, one]))
    const versions = [...new Set([...known.keys(), ...counts.keys()])].map((hash): Version => {
      const { name = null, at: seenAt = null } = known.get(hash) ?? {}
      const { count: openRuns = 0, more = false } = counts.get(hash) ?? {}
      return { hash, name, seenAt, openRuns, more }
    })
    return versions.sort((a, b) => (b.seenAt ?? 0) - (a.seenAt ?? 0) || (a.hash < b.hash ? -1 : 1))
  }

  private async known(): Promise<ReadonlyMap<string, Loaded>> {
    const known = new Map<string, Loaded>()
    for (let after: string | null = null; ; ) {
      const query = { tenant: SERVER_TENANT, table: TABLE, after, limit: PAGE }
      const page = await this.deps.reader.documents(query)
      for (const { key, value } of page) known.set(key, value as unknown as Loaded)
      after = page.at(-1)?.key ?? null
      if (page.length < PAGE) return known
    }
  }
}
