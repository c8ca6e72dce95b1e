/**
 * A manifest judged by the very code that defines systems: what `defineSystem` would refuse is told with its place in the text.
 *
 * Owns finding all that is wrong where the definition stops at the first: on a refusal each handler and each other part is tried alone.
 */
import { TrihandError } from '../../model/errors.ts'
import { assemble, type FunctionSource, type SystemSource } from '../define.ts'
import { forgeries } from '../human-only.ts'
import type { Path, Remark } from './finding.ts'
import { snakeCase } from './places.ts'

/** Hashes are not looked at here. */
const noDigest = (text: string): string => text

/** A plan of a manifest has become a function's. */
const OF_PLAN = /^functions\.([^.]+)\.plan\b/

const pathOf = (text: string): Path =>
  text
    .replace(OF_PLAN, 'plans.$1')
    .replace(/\[(\d+)\]/g, '.$1')
    .split('.')
    .filter((part) => part !== '')
    .map((part) => (/^\d+$/.test(part) ? Number(part) : snakeCase(part)))

const remarkOf = (error: TrihandError): Remark => {
  const text = error.place?.path ?? ''
  const message =
    text !== '' && error.detail.startsWith(`${text}: `) ? error.detail.slice(text.length + 2) : error.detail
  const offset = error.code === 'EXPR_REJECTED' ? (error.place?.column ?? 1) - 1 : 0
  return { level: 'error', code: error.code, message, path: pathOf(text), offset }
}

/** What a definition says about itself, or the one thing it refuses. */
const judge = (source: SystemSource, isWhole: boolean): readonly Remark[] => {
  try {
    const system = assemble(source, noDigest)
    // A part alone lacks the people whose decisions it would forge.
    const forged = isWhole ? forgeries(system) : []
    if (forged.length > 0) return forged.map(remarkOf)
    return [...system.schedules.values()].flatMap(({ findings }) =>
      findings.map(({ code, detail, path }) => ({ level: 'warning', code, message: detail, path: pathOf(path) })),
    )
  } catch (error) {
    if (error instanceof TrihandError) return [remarkOf(error)]
    throw error
  }
}

/** The others are there by name only, so that references to them hold. */
const stub = ({ name }: { readonly name: string }): FunctionSource => ({ name, options: {}, code: null })

const alone = (source: SystemSource): readonly SystemSource[] => {
  const { functions = [], agents = [], humans = [], webhooks = [], endpoints = [], schedules = [], ...shared } = source
  const stubs = [...functions, ...agents, ...humans].map(stub)
  const beside = (name: string): readonly FunctionSource[] => stubs.filter((other) => other.name !== name)
  return [
    { ...shared, functions: stubs },
    ...functions.map((one) => ({ ...shared, functions: [one, ...beside(one.name)] })),
    ...agents.map((one) => ({ ...shared, agents: [one], functions: beside(one.name) })),
    ...humans.map((one) => ({ ...shared, humans: [one], functions: beside(one.name) })),
    ...webhooks.map((one) => ({ ...shared, functions: stubs, webhooks: [one] })),
    ...endpoints.map((one) => ({ ...shared, functions: stubs, endpoints: [one] })),
    ...schedules.map((one) => ({ ...shared, functions: stubs, schedules: [one] })),
  ]
}

export const definitionRemarks = (source: SystemSource): readonly Remark[] => {
  const whole = judge(source, true)
  if (!whole.some(({ level }) => level === 'error')) return whole
  const found = [...whole, ...alone(source).flatMap((part) => judge(part, false))]
  const different = new Map(found.map((remark) => [`${remark.path.join('.')} ${remark.message}`, remark]))
  return [...different.values()]
}
