/**
 * Decides which values of the environment are secrets: by their names, by their use in a definition, and inside addresses.
 *
 * Owns these three rules. The environment is an argument; what is done with the values is model/kernel/redaction.ts.
 */
import { type Environment, referencesIn } from '#manifest/expressions/reference.ts'
import { permits } from '#model/access/module.ts'
import { createRedaction, type Redaction, type Secret } from '#model/kernel/redaction.ts'
import { SETTINGS } from '#model/kernel/setting.ts'
import type { System } from './system.ts'

const SECRET_WORDS =
  /(^|_)(secret|token|password|passwd|api_?key|access_?key|private_?key|signing_?key|key|credential|authorization|dsn)s?$/i

/** True if the name of a variable or of a key says that its value is a secret. */
export const isSecretName = (name: string): boolean =>
  SECRET_WORDS.test(name.replace(/([a-z0-9])([A-Z])/g, '$1_$2').replaceAll('-', '_'))

const SECRET_SETTINGS: ReadonlySet<string> = new Set(
  SETTINGS.filter(({ isSecret }) => isSecret === true).map(({ name }) => name),
)
const PASSWORD = /^[a-z][a-z0-9+.-]*:\/\/[^/?#@]*:([^/?#@]+)@/i
const MAX_DEPTH = 8

/** The variables that are referenced where a definition expects a secret. */
const namesUsed = (value: unknown, isSecret: boolean, depth: number, found: Set<string>): void => {
  if (typeof value === 'string') {
    if (isSecret) for (const name of referencesIn(value)) found.add(name)
  } else if (typeof value === 'object' && value !== null && depth < MAX_DEPTH) {
    const isList = Array.isArray(value)
    for (const [key, member] of value instanceof Map ? value : Object.entries(value))
      namesUsed(member, isSecret || (!isList && isSecretName(String(key))), depth + 1, found)
  }
}

const places = ({ webhooks, endpoints, executors, tools, models, sources }: System): readonly unknown[] => [
  ...[webhooks, endpoints, executors, tools, models, sources],
]

const decoded = (text: string): string => {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

/** True if the code's module lists the variable as a secret. A list that allows everything does not count. */
const isGiven = ({ functions }: System, name: string): boolean =>
  [...functions.values()].some(
    ({ module }) => module !== null && !module.allow.secrets.includes('*') && permits(module, { kind: 'secret', name }),
  )

/** The values that must never be written, each with the name that replaces it. */
export const secretsOf = (environment: Environment, system: System | null): readonly Secret[] => {
  const used = new Set(system === null ? [] : Object.keys(environment).filter((name) => isGiven(system, name)))
  if (system !== null) for (const place of places(system)) namesUsed(place, false, 0, used)
  return Object.entries(environment).flatMap(([name, value = '']) => {
    if (used.has(name) || SECRET_SETTINGS.has(name) || isSecretName(name)) return [{ name, value }]
    const [, password] = PASSWORD.exec(value) ?? []
    if (password === undefined) return []
    return [...new Set([password, decoded(password)])].map((one) => ({ name, value: one }))
  })
}

/** Redaction by the definition in force at the time. */
export const redactionFor = (environment: Environment, system: () => System): Redaction => {
  let known: { readonly system: System; readonly redaction: Redaction } | null = null
  const current = (): Redaction => {
    const definition = system()
    if (known?.system !== definition)
      known = { system: definition, redaction: createRedaction(secretsOf(environment, definition)) }
    return known.redaction
  }
  return {
    text: (text) => current().text(text),
    value: (value, written) => current().value(value, written),
    json: (written) => current().json(written),
    stream: () => current().stream(),
  }
}
