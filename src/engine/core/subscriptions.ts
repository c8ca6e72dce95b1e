/**
 * `subscribe`: the one verb by which a program hears what this process does, by topic.
 *
 * Owns the topics and their listeners. Who is called, and when, is publish.ts, token-stream.ts and observers.ts.
 */
import { TrihandError } from '#model/kernel/errors.ts'
import type { RunId } from '#model/kernel/ids.ts'
import type { Engine } from './engine.ts'
import type { Observer } from './observers.ts'
import type { Subscriber, Watcher } from './publish.ts'
import type { ChunkListener } from './token-stream.ts'

/** The topics of `subscribe`, each with its listener and the options that it needs. */
export interface Topics {
  /** Each commit of a run, with its status and its new facts: a function that gets a `RunNotice`. */
  readonly runs: { readonly listener: Subscriber; readonly options: readonly [] }
  /** Each append: the runs, tasks, schedules and sessions that it changed, and how many events it added. A function that gets a `Change`. */
  readonly changes: { readonly listener: Watcher; readonly options: readonly [] }
  /** The answer of a model while it arrives, for one `run`: a function that gets a `TokenChunk`. Provisional, and never twice. */
  readonly tokens: { readonly listener: ChunkListener; readonly options: readonly [{ readonly run: RunId }] }
  /** Counts of what this process does for all its tenants: an `Observer`. */
  readonly metrics: { readonly listener: Observer; readonly options: readonly [] }
}

/** Ends a subscription. Safe to call twice. */
export type Unsubscribe = () => void

/** Ways to hear what this process does. Other processes on the same ledger are not heard. */
export interface Subscriptions {
  /**
   * Calls the listener for everything of a topic from now on, after it is in the ledger; returns a function that ends it. A listener that throws
   * disturbs nothing.
   *
   * ```ts
   * const end = app.subscribe('runs', ({ run, status }) => console.log(run, status))
   * app.subscribe('changes', ({ streams, events }) => cache.forget(streams))
   * app.subscribe('tokens', ({ text }) => process.stdout.write(text), { run })
   * ```
   */
  subscribe<Name extends keyof Topics>(
    topic: Name,
    listener: Topics[Name]['listener'],
    ...options: Topics[Name]['options']
  ): Unsubscribe
  /** @deprecated `subscribe('runs', listener)`. Goes away with 0.2. */
  on(listener: Subscriber): Unsubscribe
  /** @deprecated `subscribe('changes', listener)`. Goes away with 0.2. */
  watch(listener: Watcher): Unsubscribe
  /** @deprecated `subscribe('tokens', listener, { run })`. Goes away with 0.2. */
  listen(run: RunId, listener: ChunkListener): Unsubscribe
  /** @deprecated `subscribe('metrics', observer)`. Goes away with 0.2. */
  observe(observer: Observer): Unsubscribe
}

type Openers = {
  readonly [Name in keyof Topics]: (
    listener: Topics[Name]['listener'],
    ...options: Topics[Name]['options']
  ) => Unsubscribe
}

const refused = (problem: string): TrihandError => new TrihandError('CONFIG_INVALID', `subscribe: ${problem}`)

/** The subscriptions of one tenant's engine. */
export const subscriptionsOf = (engine: Pick<Engine, 'subscribe' | 'watch' | 'listen' | 'observe'>): Subscriptions => {
  const openers: Openers = {
    runs: (listener) => engine.subscribe(listener),
    changes: (listener) => engine.watch(listener),
    tokens: (listener, { run }) => engine.listen(run, listener),
    metrics: (observer) => engine.observe(observer),
  }
  const subscribe: Subscriptions['subscribe'] = (topic, listener, ...options) => {
    // For callers without types: a listener that nobody will ever call is a mistake.
    if (!Object.hasOwn(openers, topic)) throw refused(`"${topic}" is not one of ${Object.keys(openers).join(', ')}`)
    if (topic === 'tokens' && options[0]?.run === undefined) throw refused('tokens needs the run: { run }')
    return openers[topic](listener, ...options)
  }
  return {
    subscribe,
    on: (listener) => subscribe('runs', listener),
    watch: (listener) => subscribe('changes', listener),
    listen: (run, listener) => subscribe('tokens', listener, { run }),
    observe: (observer) => subscribe('metrics', observer),
  }
}
