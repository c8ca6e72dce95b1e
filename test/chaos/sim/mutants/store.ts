/** Seeded bugs of a store: fencing, idempotence, signals, leases, transactions. */
import type { MemoryStore } from '#adapters/storage/memory/store.ts'
import { isRunId, runId } from '#model/kernel/ids.ts'
import { sealText } from '#model/kernel/seal.ts'
import type { Append, EventMatch, Ledger, Outcome, SealedFact, StreamWrite, WaitRow } from '#ports/ledger.ts'
import { simDigest } from '#test/chaos/sim/digest.ts'
import { changed, type Mutant, oneByOne, withAppends, withWrites } from './mutant.ts'

const written = (store: MemoryStore): Outcome => ({
  kind: 'written',
  sequences: [],
  position: store.events.position,
  signalled: [],
})

const versionOf = (store: MemoryStore, { stream }: StreamWrite): number => store.streams.get(stream)?.facts.length ?? 0

/** The same facts at another position in the stream, sealed as if they belonged there. */
const resealed = (store: MemoryStore, write: StreamWrite): StreamWrite => {
  const expectedVersion = versionOf(store, write)
  let headHash = store.streams.get(write.stream)?.headHash ?? ''
  const facts = write.facts.map((fact, i): SealedFact => {
    headHash = simDigest(sealText(headHash, { stream: write.stream, seq: expectedVersion + i, ...fact }))
    return { ...fact, hash: headHash }
  })
  return { ...write, expectedVersion, facts, headHash }
}

const noEpochCheck: Mutant = {
  name: 'no epoch check',
  atStore: (inner, store) =>
    withWrites(inner, (write) => {
      const epoch = store.streams.get(write.stream)?.epoch
      return write.epoch === null || epoch === undefined ? write : { ...write, epoch }
    }),
}

const noVersionCheck: Mutant = {
  name: 'no version check',
  atStore: (inner, store) =>
    withWrites(inner, (write) =>
      write.create === null ? { ...write, expectedVersion: versionOf(store, write) } : write,
    ),
}

/** The append waits in memory for the next call; a crash loses it. */
const acknowledgedEarly: Mutant = {
  name: 'acknowledged before it is written',
  atStore: (inner, store) => {
    let late: Append | null = null
    const flush = async (): Promise<void> => {
      const append = late
      late = null
      if (append !== null) await inner.append([append])
    }
    const flushed = oneByOne(inner, async (append, write) => {
      await flush()
      const isDelayed =
        append.events.length === 0 && append.writes.every(({ create, epoch }) => create === null && epoch !== null)
      if (!isDelayed) return write(append)
      late = append
      return written(store)
    })
    return changed(flushed, {
      claim: async (request) => {
        await flush()
        return inner.claim(request)
      },
    })
  },
}

const eventsApart: Mutant = {
  name: 'events outside of the transaction',
  seenAt: 112,
  atStore: (inner) =>
    oneByOne(inner, async (append, write) => {
      const spawned = append.writes.filter(({ create }) => create !== null)
      const rest = append.writes.filter(({ create }) => create === null)
      if (append.events.length === 0 || rest.length === 0) return write(append)
      const sent = await write({ ...append, appendId: `${append.appendId}-events`, writes: spawned })
      const outcome = await write({ ...append, writes: rest, events: [] })
      return outcome.kind === 'conflict' || sent.kind === 'conflict' ? outcome : { ...sent, kind: outcome.kind }
    }),
}

const WINDOW_MS = 200

const windowedDedupe: Mutant = {
  name: 'repeats are known for a while only',
  atStore: (inner, store) =>
    withAppends(inner, (append) => ({
      ...append,
      events: append.events.map((one) => {
        const row = store.events.byIdentity(one.event)
        const isOld =
          row !== undefined &&
          row.appendId !== append.appendId &&
          one.event.time - JSON.parse(row.text).time > WINDOW_MS
        return isOld ? { ...one, event: { ...one.event, id: `${one.event.id}-again` } } : one
      }),
    })),
}

const signalLostAtRelease: Mutant = {
  name: 'a signal during the work is lost at the release',
  atStore: (inner) => withWrites(inner, (write) => ({ ...write, seenSignal: Number.MAX_SAFE_INTEGER })),
}

const leasedNotSignalled: Mutant = {
  name: 'a leased run is not signalled',
  atStore: (inner, store) =>
    changed(inner, {
      append: async (batch) => {
        const before = new Map([...store.streams.values()].map((stream) => [stream, stream.signal]))
        const outcomes = await inner.append(batch)
        for (const [stream, signal] of before) if (stream.lease !== null) stream.signal = signal
        return outcomes
      },
    }),
}

const noWakeAtRelease: Mutant = {
  name: 'released without its wake',
  atStore: (inner) => withWrites(inner, (write) => (write.release ? { ...write, wakeAt: null } : write)),
}

/** Waits count as if all events before them had been read. */
const blindWaits = (inner: Ledger, store: MemoryStore): Ledger =>
  withWrites(inner, (write) => {
    const tenant = store.streams.get(write.stream)?.tenant
    if (tenant === undefined) return write
    const seen = ({ type, path, value, base }: WaitRow): number =>
      path === ''
        ? store.events.countAfter(tenant, type, base)
        : store.events.countMatching(tenant, { type, path, value, after: base })
    return { ...write, opensWaits: write.opensWaits.map((row) => ({ ...row, seen: seen(row) })) }
  })

const gapBeforeWait: Mutant = { name: 'an event between the look and the wait is missed', atStore: blindWaits }

const noLookBack: Mutant = {
  name: 'a wait by value is registered without looking back',
  atStore: (inner, store) => {
    const since = new Map<string, number>()
    const isListed = (match: EventMatch, sequence: number): boolean => {
      const key = `${match.type} ${match.path}`
      since.set(key, since.get(key) ?? store.events.position)
      return sequence > (since.get(key) ?? 0)
    }
    return changed(blindWaits(inner, store), {
      events: async (query) => {
        const found = await inner.events(query)
        const { matching } = query
        if (matching === undefined) return found
        return found.filter(({ type, sequence }) =>
          matching.some((one) => one.type === type && isListed(one, sequence)),
        )
      },
    })
  },
}

const doubleClaim: Mutant = {
  name: 'a leased run is claimed again',
  atStore: (inner, store) =>
    changed(inner, {
      claim: async (request) => {
        for (const stream of store.byCreation) {
          const isOthers = stream.lease !== null && stream.lease !== request.worker && isRunId(stream.id)
          if (isOthers && stream.facts.length % 3 === 2) store.place(stream, null, request.now)
        }
        return inner.claim(request)
      },
    }),
}

const sameEpochClaim: Mutant = {
  name: 'a claim does not raise the epoch',
  atStore: (inner, store) =>
    changed(inner, {
      claim: async (request) => {
        const { claims, nextDueAt } = await inner.claim(request)
        const lowered = claims.map((claim) => {
          const stream = store.streams.get(claim.stream)
          if (stream !== undefined && stream.epoch > 1) stream.epoch -= 1
          return { ...claim, epoch: stream?.epoch ?? claim.epoch }
        })
        return { claims: lowered, nextDueAt }
      },
    }),
}

const neverFreed: Mutant = {
  name: 'leases of the dead are never freed',
  atStore: (inner, store) =>
    changed(inner, {
      beat: async ({ worker, now }) => {
        store.workers.set(worker, { beatAt: now, info: null })
        return 0
      },
    }),
}

const freedAlive: Mutant = {
  name: 'a beat frees the leases of the living',
  atStore: (inner) => changed(inner, { beat: (request) => inner.beat({ ...request, ttlMs: request.ttlMs / 10 }) }),
}

const chainNotUpdated: Mutant = {
  name: 'the head of the chain is not updated',
  atStore: (inner, store) =>
    withWrites(inner, (write) => {
      const headHash = store.streams.get(write.stream)?.headHash
      return headHash === undefined || write.epoch === null ? write : { ...write, headHash }
    }),
}

/** A conflict of a command from outside is answered by writing the same facts at the next position. */
const notDecidedAgain: Mutant = {
  name: 'a conflict is written over without deciding again',
  seenAt: 231,
  atStore: (inner, store) =>
    oneByOne(inner, async (append, write) => {
      const outcome = await write(append)
      const isOutside =
        append.writes.length === 1 && append.writes.every(({ create, epoch }) => create === null && epoch === null)
      if (outcome.kind !== 'conflict' || outcome.reason !== 'version' || !isOutside) return outcome
      return write({ ...append, writes: append.writes.map((one) => resealed(store, one)) })
    }),
}

const childNotTold: Mutant = {
  name: 'the end of a child is not signalled',
  atStore: (inner) => withAppends(inner, (append) => ({ ...append, signals: [] })),
}

const startedTwice: Mutant = {
  name: 'an event starts its run twice',
  atStore: (inner) =>
    withAppends(inner, (append) => {
      const [first] = append.writes.filter(({ create }) => create?.event === 0)
      if (first === undefined || append.appendId.length % 2 === 0) return append
      const twin = runId(`f${first.stream.slice(-31)}`)
      let headHash = ''
      const facts = first.facts.map((fact, seq) => {
        headHash = simDigest(sealText(headHash, { stream: twin, seq, ...fact }))
        return { ...fact, hash: headHash }
      })
      const create = first.create === null ? null : { ...first.create, lease: null }
      const wakeAt = first.create?.createdAt ?? null
      return {
        ...append,
        writes: [...append.writes, { ...first, stream: twin, create, facts, headHash, wakeAt, status: 'queued' }],
      }
    }),
}

const rowsNotClosed: Mutant = {
  name: 'wait rows are not closed',
  atStore: (inner) => withWrites(inner, (write) => ({ ...write, closesWaits: [] })),
}

const documentsFirst: Mutant = {
  name: 'documents are written before the result is accepted',
  seenAt: 420,
  atStore: (inner) =>
    oneByOne(inner, async (append, write) => {
      if (append.documents.length > 0)
        await write({ ...append, appendId: `${append.appendId}-documents`, writes: [], events: [] })
      return write(append)
    }),
}

export const STORE_MUTANTS: readonly Mutant[] = [
  noEpochCheck,
  noVersionCheck,
  acknowledgedEarly,
  eventsApart,
  windowedDedupe,
  signalLostAtRelease,
  leasedNotSignalled,
  noWakeAtRelease,
  gapBeforeWait,
  noLookBack,
  doubleClaim,
  sameEpochClaim,
  neverFreed,
  freedAlive,
  chainNotUpdated,
  notDecidedAgain,
  childNotTold,
  startedTwice,
  rowsNotClosed,
  documentsFirst,
]
