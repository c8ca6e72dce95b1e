/** The error for mistakes in a definition: one wording for names and for the place. */
import { TrihandError } from '#model/kernel/errors.ts'

const NAME = /^[a-z][a-z0-9_-]{0,63}$/

export const invalid = (path: string, problem: string, cause?: unknown): TrihandError =>
  new TrihandError('MANIFEST_INVALID', `${path}: ${problem}`, { place: { path }, cause })

export const checkName = (name: string, path: string): void => {
  if (!NAME.test(name)) throw invalid(path, 'a name must begin with a letter and have at most 64 of a-z 0-9 _ -')
}
