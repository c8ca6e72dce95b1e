/**
 * Brings pools, modules and the placement of handlers from what an author writes to the normal form.
 *
 * Owns their spelling and every refusal at definition time. Which worker fits is model/worker/placement.ts.
 */
import { durationMs } from '#manifest/time/duration.ts'
import { TrihandError } from '#model/kernel/errors.ts'
import { isPlainText } from '#model/kernel/ids.ts'
import { DEFAULT_PIN, PIN_MODES, type Pin } from '#model/worker/pin.ts'
import type { Placement, Preference } from '#model/worker/placement.ts'
import type { PlacementSource } from '#model/worker/source.ts'
import type { WorkerPlace } from '#model/worker/worker-info.ts'

export interface PoolSource {
  readonly name: string
  /** Labels that every worker of the pool has. */
  readonly labels?: Readonly<Record<string, string>>
  /** Short for the label `<capability>=yes`. */
  readonly capabilities?: readonly string[]
  /** The modules whose functions may run here; absent: all. */
  readonly modules?: readonly string[]
  /** How many runs a worker of the pool holds at once. */
  readonly slots?: number
  /** How many workers there should be, for the operator or platform that starts them. Trihand does not start workers. */
  readonly min?: number
  /** How many of its workers take runs; further workers are on standby. Absent: all. */
  readonly max?: number
}

export interface Pool {
  readonly name: string
  readonly labels: Readonly<Record<string, string>>
  readonly modules: readonly string[] | null
  readonly slots: number | null
  readonly min: number
  readonly max: number | null
}

export type Labels = Readonly<Record<string, string>>

const NAME = /^[a-z][a-z0-9_.-]{0,62}$/
const MAX_VALUE = 128
const MAX_SLOTS = 100_000
const MAX_WORKERS = 10_000

const invalid = (path: string, problem: string): TrihandError =>
  new TrihandError('MANIFEST_INVALID', `${path}: ${problem}`, { place: { path } })

const checkName = (path: string, name: string): void => {
  if (!NAME.test(name)) throw invalid(path, `"${name}" must begin with a letter and have at most 63 of a-z 0-9 _ . -`)
}

const checkValue = (path: string, value: unknown): void => {
  if (typeof value !== 'string' || !isPlainText(value, MAX_VALUE))
    throw invalid(path, `the value of a label must be a text of 1 to ${MAX_VALUE} characters`)
}

const labelsOf = (path: string, labels: Labels): Labels => {
  for (const [name, value] of Object.entries(labels)) {
    checkName(`${path}.labels`, name)
    checkValue(`${path}.labels.${name}`, value)
  }
  return labels
}

const definePool = (source: PoolSource): Pool => {
  const path = `pools.${source.name}`
  checkName(path, source.name)
  const { slots = null, capabilities = [] } = source
  if (slots !== null && (!Number.isInteger(slots) || slots < 1 || slots > MAX_SLOTS))
    throw invalid(`${path}.slots`, `a whole number from 1 to ${MAX_SLOTS}`)
  const { min = 0, max = null } = source
  if (!Number.isInteger(min) || min < 0 || min > MAX_WORKERS)
    throw invalid(`${path}.min`, `a whole number from 0 to ${MAX_WORKERS}`)
  if (max !== null && (!Number.isInteger(max) || max < Math.max(1, min) || max > MAX_WORKERS))
    throw invalid(`${path}.max`, `a whole number from ${Math.max(1, min)} to ${MAX_WORKERS}, not below min`)
  const able = Object.fromEntries(capabilities.map((name) => [name, 'yes']))
  return {
    name: source.name,
    labels: labelsOf(path, { ...able, ...source.labels }),
    modules: source.modules ?? null,
    ...{ slots, min, max },
  }
}

export const definePools = (sources: readonly PoolSource[]): ReadonlyMap<string, Pool> => {
  const pools = new Map<string, Pool>()
  for (const source of sources) {
    if (pools.has(source.name)) throw new TrihandError('MANIFEST_DUPLICATE_NAME', `two pools are named ${source.name}`)
    pools.set(source.name, definePool(source))
  }
  return pools
}

/** Splits `region=eu` into a name and a value; null if it is malformed. */
const splitLabel = (text: string): readonly [string, string] | null => {
  const at = text.indexOf('=')
  return at < 1 || at === text.length - 1 ? null : [text.slice(0, at), text.slice(at + 1)]
}

const preferenceOf = (path: string, source: { readonly label: string; readonly weight?: number }): Preference => {
  const { weight = 1 } = source
  const [name, value] = splitLabel(source.label) ?? []
  if (name === undefined || value === undefined)
    throw invalid(`${path}.prefer`, `"${source.label}" is not a label; expected name=value`)
  if (!Number.isFinite(weight) || weight <= 0) throw invalid(`${path}.prefer`, 'a weight must be a number above 0')
  checkName(`${path}.prefer`, name)
  return { label: name, value, weight }
}

const pinOf = (path: string, { pin: mode = DEFAULT_PIN.mode, pinFor }: PlacementSource): Pin => {
  if (!PIN_MODES.includes(mode)) throw invalid(`${path}.pin`, `one of ${PIN_MODES.join(', ')}`)
  if (pinFor === undefined) return { ...DEFAULT_PIN, mode }
  if (mode !== 'soft') throw invalid(`${path}.pin_for`, 'needs `pin: soft`: the other pins have no time limit')
  return { mode, forMs: durationMs(pinFor) }
}

export const definePlacement = (path: string, source: PlacementSource, module: string | null): Placement => {
  const { require = {}, prefer = [], sticky = false } = source.placement ?? {}
  if (typeof sticky !== 'boolean') throw invalid(`${path}.placement.sticky`, 'true or false')
  if (source.pool !== undefined) checkName(`${path}.pool`, source.pool)
  const required = Object.entries(require).map(([name, given]) => {
    const values = typeof given === 'string' ? [given] : given
    checkName(`${path}.placement.require`, name)
    if (values.length === 0) throw invalid(`${path}.placement.require.${name}`, 'name at least one value')
    for (const value of values) checkValue(`${path}.placement.require.${name}`, value)
    return [name, values] as const
  })
  return {
    pool: source.pool ?? null,
    pin: pinOf(path, source),
    module,
    require: Object.fromEntries(required),
    prefer: prefer.map((one) => preferenceOf(`${path}.placement`, one)),
    sticky,
  }
}

/** Parses `region=eu,gpu=no` from a command line or a variable. */
export const parseLabels = (text: string): Labels => {
  const labels: Record<string, string> = {}
  for (const part of text.split(',').filter((one) => one !== '')) {
    const [name, value] = splitLabel(part) ?? []
    if (name === undefined || value === undefined || !NAME.test(name) || !isPlainText(value, MAX_VALUE))
      throw new TrihandError('CONFIG_INVALID', `"${part}" is not a label; expected name=value,name=value`)
    labels[name] = value
  }
  return labels
}

/** The placement of a worker that joins a pool: the pool's labels and its own, which win. */
export const placeIn = (
  pools: ReadonlyMap<string, Pool>,
  given: { readonly pool?: string; readonly labels?: Labels },
): WorkerPlace & { readonly slots: number | null } => {
  const pool = given.pool === undefined ? undefined : pools.get(given.pool)
  if (given.pool !== undefined && pool === undefined) {
    const known = [...pools.keys()].join(', ') || 'none'
    throw new TrihandError('CONFIG_INVALID', `there is no pool ${given.pool}; the system has ${known}`)
  }
  return {
    pool: given.pool ?? null,
    labels: { ...pool?.labels, ...given.labels },
    modules: pool?.modules ?? null,
    slots: pool?.slots ?? null,
  }
}
