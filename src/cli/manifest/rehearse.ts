/**
 * Rehearses a manifest: the real engine on a ledger in memory, with a controlled clock and a stand-in for every handler.
 *
 * Owns the order of events: each start event, each schedule, each handler that is only started by a call; then more than a year passes. No
 * network, no secrets, no code of the folder. The only file of the command line that uses the test kit, whose clock it drives.
 */
import { hash } from 'node:crypto'
import { openStore } from '#compose/stores.ts'
import { type Cast, castOf, type Direction, nothingSeen, variantsOf } from '#manifest/simulate/cast.ts'
import { beginningsOf, type Rehearsal, rehearsalOf } from '#manifest/simulate/report.ts'
import { sampleOf, seeded } from '#manifest/simulate/sample.ts'
import { partsIn } from '#manifest/simulate/script.ts'
import { type Manifest, startingTypes } from '#manifest/yaml/manifest.ts'
import { LOCAL_TENANT } from '#model/kernel/ids.ts'
import type { Json } from '#model/kernel/json.ts'
import { plainSeals } from '#model/kernel/seal.ts'
import type { Ids } from '#ports/ids.ts'
import type { Reader } from '#ports/reader.ts'
import { startTestSystem, type TestSystem } from '#testing/system.ts'

export interface RehearsalOptions extends Pick<Direction, 'paths' | 'humans' | 'maxRuns'> {
  readonly seed: number
  /** Start with this event only; absent: with all possible start events. */
  readonly event?: string
  readonly data?: Json
}

const PAGE = 200
/** Longer than any usual delay or deadline. */
const LONG = '400d'

/** The same seed gives the same ids, so that two reports can be compared. */
const seededIds = (seed: number): Ids => {
  const roll = seeded(seed)
  let count = 0
  const digest = (text: string): string => hash('sha256', text, 'base64url')
  return {
    uuid: () =>
      `019b76da00007000${(0x8000_0000 + ++count).toString(16)}${seed.toString(16).padStart(8, '0').slice(-8)}`,
    roll,
    digest,
    ...plainSeals(digest),
  }
}

const openStage = ({ source }: Cast, seed: number): Promise<TestSystem> =>
  startTestSystem(source, {
    name: 'memory',
    open: (clock) => openStore({ kind: 'memory' }, {}, clock),
    ids: () => seededIds(seed),
    remove: async () => {},
  })

/** Handlers that no event of the system starts: they are started directly. */
const calledIn = (manifest: Manifest): readonly string[] =>
  partsIn(manifest)
    .filter(({ handler }) => startingTypes(handler, manifest).length === 0)
    .filter(({ handler }) => handler['enabled'] !== false && !handler.triggers.some(({ kind }) => kind === 'after'))
    .map(({ handler }) => handler.name)

const playAll = async (system: TestSystem, cast: Cast, options: RehearsalOptions): Promise<void> => {
  const { manifest } = cast.stage
  const types = options.event === undefined ? beginningsOf(manifest) : [options.event]
  for (const type of types) {
    const all = options.data === undefined ? variantsOf(cast.stage, type, {}) : [options.data]
    for (const data of all) await system.send({ type, data, source: 'simulate' })
    await system.settle()
  }
  if (options.event === undefined) {
    const roll = seeded(options.seed)
    for (const name of calledIn(manifest)) await system.start(name, sampleOf({ type: 'object' }, roll))
  }
  await system.advance(LONG)
}

interface Traces {
  readonly types: ReadonlySet<string>
  readonly loops: readonly string[]
}

const tracesIn = async (reader: Reader): Promise<Traces> => {
  const types = new Set<string>()
  const loops = new Set<string>()
  for (let before: number | null = null; ; ) {
    const page = await reader.events({ tenant: LOCAL_TENANT, type: null, before, limit: PAGE })
    for (const { type, sequence } of page) {
      types.add(type)
      for (const { trigger, reason } of await reader.suppressed(LOCAL_TENANT, sequence))
        if (reason === 'reentry' || reason === 'hop_limit') loops.add(`${trigger} on ${type}`)
    }
    const last = page.at(-1)
    if (last === undefined || page.length < PAGE) return { types, loops: [...loops].sort() }
    before = last.sequence
  }
}

const failuresIn = async (system: TestSystem): Promise<Rehearsal['failures']> => {
  const failed = await system.run(() =>
    system.store.reader.runs({ tenant: LOCAL_TENANT, status: 'failed', handler: null, before: null, limit: PAGE }),
  )
  const failures = new Map<string, string>()
  for (const { id, handler } of failed) {
    const { error } = await system.run(() => system.look(id))
    failures.set(handler, error === null ? 'failed' : `${error.code}: ${error.message}`)
  }
  return [...failures].map(([handler, error]) => ({ handler, error }))
}

export const rehearse = async (manifest: Manifest, options: RehearsalOptions): Promise<Rehearsal> => {
  const seen = nothingSeen()
  const cast = castOf(manifest, { ...options, roll: seeded(options.seed) }, seen)
  const system = await openStage(cast, options.seed)
  try {
    await playAll(system, cast, options)
    const traces = await system.run(() => tracesIn(system.store.reader))
    const failures = await failuresIn(system)
    return rehearsalOf(manifest, { seed: options.seed, seen, ...traces, failures })
  } finally {
    await system.close()
  }
}
