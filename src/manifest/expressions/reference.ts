/**
 * References to the environment in a definition: `${NAME}`, `${NAME:-default}`, and `$${` for a literal `${`.
 *
 * Owns the spelling. The environment is an argument, so a hash or a page can contain the reference and never the secret behind it.
 */
import { TrihandError } from '#model/kernel/errors.ts'

const REFERENCE = /\$\$\{|\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}/g

export type Environment = Readonly<Record<string, string | undefined>>

export const resolveReferences = (text: string, environment: Environment): string =>
  text.replace(REFERENCE, (whole, name: string | undefined, fallback: string | undefined) => {
    if (name === undefined) return '${'
    const value = environment[name]
    if (value !== undefined && value !== '') return value
    if (fallback !== undefined) return fallback
    throw new TrihandError('ENV_MISSING', `${whole} is not set`)
  })

/** The variables that a text refers to. */
export const referencesIn = (text: string): readonly string[] =>
  [...text.matchAll(REFERENCE)].flatMap(([, name]) => (name === undefined ? [] : [name]))
