/**
 * Checks a manifest with the code that defines systems: what `defineSystem` would refuse is reported with its place in the text.
 *
 * Owns finding all mistakes although the definition stops at the first: on a refusal each handler and each other part is tried alone,
 * and once more without what was refused.
 */
import { assemble, type SystemSource } from '#manifest/define/define.ts'
import { forgeries } from '#manifest/human/human-only.ts'
import type { Path, Remark } from '#manifest/yaml/finding.ts'
import { snakeCase } from '#manifest/yaml/parse/places.ts'
import { TrihandError } from '#model/kernel/errors.ts'
import type { FunctionSource } from '#model/workflow/function-source.ts'

/** Hashes are not needed here. */
const noDigest = (text: string): string => text

/** A plan of a manifest has become a function's plan. */
const OF_PLAN = /^functions\.([^.]+)\.plan\b/

const pathOf = (text: string): Path =>
  text
    .replace(OF_PLAN, 'plans.$1')
    .replace(/\[(\d+)\]/g, '.$1')
    .split('.')
    .filter((part) => part !== '')
    .map((part) => (/^\d+$/.test(part) ? Number(part) : snakeCase(part)))

export const remarkOf = (error: TrihandError): Remark => {
  const text = error.place?.path ?? ''
  const message =
    text !== '' && error.detail.startsWith(`${text}: `) ? error.detail.slice(text.length + 2) : error.detail
  const offset = error.code === 'EXPR_REJECTED' ? (error.place?.column ?? 1) - 1 : 0
  return { level: 'error', code: error.code, message, path: pathOf(text), offset }
}

interface Verdict {
  readonly remarks: readonly Remark[]
  /** The path at which the definition stopped; null: it did not. */
  readonly stopped: string | null
}

const judge = (source: SystemSource, isWhole: boolean): Verdict => {
  try {
    const system = assemble(source, noDigest)
    // A part alone does not contain the people whose decisions it would forge.
    const forged = isWhole ? forgeries(system) : []
    if (forged.length > 0) return { remarks: forged.map(remarkOf), stopped: '' }
    const remarks = [...system.schedules.values()].flatMap(({ findings }) =>
      findings.map(
        ({ code, detail, path }) => ({ level: 'warning', code, message: detail, path: pathOf(path) }) as const,
      ),
    )
    return { remarks, stopped: null }
  } catch (error) {
    if (error instanceof TrihandError) return { remarks: [remarkOf(error)], stopped: error.place?.path ?? '' }
    throw error
  }
}

const without = (members: object, key: string): object =>
  Object.fromEntries(Object.entries(members).filter(([name]) => name !== key))

/** True if the name is the whole path or is followed by another part. */
const follows = (path: string, name: string): boolean => path === name || /^[.[]/.test(path.slice(name.length))

const keyIn = (members: object, path: string): string | undefined =>
  Object.keys(members)
    .filter((key) => path.startsWith(key) && follows(path, key))
    .sort((a, b) => b.length - a.length)[0]

/** The source without the entry, or the option of a handler, at the path; null: there is none. */
const pruned = (source: SystemSource, path: string): SystemSource | null => {
  const section = keyIn(source, path)
  const value = section === undefined ? undefined : (source as unknown as Record<string, unknown>)[section]
  if (section === undefined || typeof value !== 'object' || value === null) return null
  const rest = path.slice(section.length + 1)
  if (!Array.isArray(value)) {
    const key = keyIn(value, rest)
    return key === undefined ? null : ({ ...source, [section]: without(value, key) } as SystemSource)
  }
  const named = (value as readonly { readonly name?: string; readonly options?: object }[]).find(
    ({ name = '' }) => name !== '' && rest.startsWith(name) && follows(rest, name),
  )
  if (named === undefined) return null
  const { name = '', options } = named
  if (options === undefined) return { ...source, [section]: value.filter((one) => one !== named) } as SystemSource
  const key = keyIn(options, rest.slice(name.length + 1))
  if (key === undefined) return null
  const smaller = { ...named, options: without(options, key) }
  return { ...source, [section]: value.map((one) => (one === named ? smaller : one)) } as SystemSource
}

const MAX_ROUNDS = 10

/** All refusals of a part, and the part without what was refused. */
const judgeAll = (part: SystemSource): { readonly remarks: readonly Remark[]; readonly sound: SystemSource } => {
  const remarks: Remark[] = []
  let sound = part
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const verdict = judge(sound, false)
    remarks.push(...verdict.remarks)
    const next = verdict.stopped === null ? null : pruned(sound, verdict.stopped)
    if (next === null) break
    sound = next
  }
  return { remarks, sound }
}

/** The other handlers exist by name only, so that references to them resolve. */
const stub = ({ name }: { readonly name: string }): FunctionSource => ({ name, options: {}, code: null })

const judgeParts = (source: SystemSource): readonly Remark[] => {
  const { functions = [], agents = [], humans = [], webhooks = [], endpoints = [], schedules = [], ...others } = source
  const { chats = [], ...rest } = others
  const stubs = [...functions, ...agents, ...humans].map(stub)
  const beside = (name: string): readonly FunctionSource[] => stubs.filter((other) => other.name !== name)
  const common = judgeAll({ ...rest, functions: stubs })
  const { functions: _, ...shared } = common.sound
  const parts: readonly SystemSource[] = [
    ...functions.map((one) => ({ ...shared, functions: [one, ...beside(one.name)] })),
    ...agents.map((one) => ({ ...shared, agents: [one], functions: beside(one.name) })),
    ...humans.map((one) => ({ ...shared, humans: [one], functions: beside(one.name) })),
    ...webhooks.map((one) => ({ ...shared, functions: stubs, webhooks: [one] })),
    ...endpoints.map((one) => ({ ...shared, functions: stubs, endpoints: [one] })),
    // A chat is answered by an agent, so no function stub can replace it.
    ...chats.map((one) => ({
      ...shared,
      functions: [...functions, ...humans].map(stub),
      agents: agents.map(({ name }) => ({ name, options: { instructions: name } })),
      chats: [one],
    })),
    ...schedules.map((one) => ({ ...shared, functions: stubs, schedules: [one] })),
  ]
  return [...common.remarks, ...parts.flatMap((part) => judgeAll(part).remarks)]
}

/** The remarks of a definition, or all that it refuses. */
export const definitionRemarks = (source: SystemSource): readonly Remark[] => {
  const whole = judge(source, true)
  if (whole.stopped === null) return whole.remarks
  const found = [...whole.remarks, ...judgeParts(source)]
  const different = new Map(found.map((remark) => [`${remark.path.join('.')} ${remark.message}`, remark]))
  return [...different.values()]
}
