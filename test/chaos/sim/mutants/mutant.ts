/**
 * A seeded bug: one small change between the engine and the store, or in one function, that breaks one promise.
 *
 * Owns the shape. A simulator that does not find each of them proves nothing about the code without them.
 */
import type { MemoryStore } from '#adapters/storage/memory/store.ts'
import type { Append, Ledger, Outcome, StreamWrite } from '#ports/ledger.ts'

export interface Mutant {
  /** What it does wrong. */
  readonly name: string
  /** A seed that has shown it, where many others do not. A change of the engine may require another one. */
  readonly seenAt?: number
  /** At the store's end of the line: a bug of an adapter. */
  readonly atStore?: (inner: Ledger, store: MemoryStore) => Ledger
  /** At the engine's end of the line: a bug in how the ledger is used. */
  readonly atEngine?: (line: Ledger, store: MemoryStore) => Ledger
  /** Replaces a function; the returned function restores it. */
  readonly plant?: () => () => void
}

/** A ledger with some methods replaced; the rest goes through. */
export const changed = (inner: Ledger, methods: Partial<Ledger>): Ledger => ({
  append: (batch) => inner.append(batch),
  load: (streams, options) => inner.load(streams, options),
  events: (query) => inner.events(query),
  claim: (request) => inner.claim(request),
  beat: (request) => inner.beat(request),
  retire: (worker, now) => inner.retire(worker, now),
  close: () => inner.close(),
  ...methods,
})

export const withAppends = (inner: Ledger, change: (append: Append) => Append): Ledger =>
  changed(inner, { append: (batch) => inner.append(batch.map(change)) })

export const withWrites = (inner: Ledger, change: (write: StreamWrite) => StreamWrite): Ledger =>
  withAppends(inner, (append) => ({ ...append, writes: append.writes.map(change) }))

/** Appends to existing streams are handled one by one; new streams pass unchanged. */
export const oneByOne = (
  inner: Ledger,
  handle: (append: Append, write: (append: Append) => Promise<Outcome>) => Promise<Outcome>,
): Ledger => {
  const write = async (append: Append): Promise<Outcome> => {
    const [outcome] = await inner.append([append])
    if (outcome === undefined) throw new Error('no outcome')
    return outcome
  }
  return changed(inner, {
    append: async (batch) => {
      const outcomes: Outcome[] = []
      for (const append of batch) outcomes.push(await handle(append, write))
      return outcomes
    },
  })
}

/** Replaces one method of a class, which must be there. The original is bound to nothing: call it with `this`. */
export const plantMethod = <Method extends (...args: never[]) => unknown>(
  target: object,
  name: string,
  change: (original: Method) => Method,
): (() => void) => {
  const original = Reflect.get(target, name) as Method
  if (typeof original !== 'function') throw new Error(`there is no method ${name} to plant a bug in`)
  Reflect.set(target, name, change(original))
  return () => void Reflect.set(target, name, original)
}
