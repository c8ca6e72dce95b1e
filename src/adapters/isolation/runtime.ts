/**
 * How a process for isolated code is started: which flags its version of Node.js knows.
 *
 * Owns the flags. All that is allowed is to read the module's own folder; a version without permissions is refused.
 */
import { TrihandError } from '#model/kernel/errors.ts'
import { PROGRAM } from './program-code.ts'

/** The first with the permission model. */
const FIRST = 20

const numbers = (version: string): readonly [number, number] => {
  const [major = 0, minor = 0] = version.replace(/^v/, '').split('.').map(Number)
  return [major, minor]
}

/** Called by its later name since 22.13 and 23.5. */
const permissionFlag = ([major, minor]: readonly [number, number]): string => {
  const isEarly = major < 22 || (major === 22 && minor < 13) || (major === 23 && minor < 5)
  return isEarly ? '--experimental-permission' : '--permission'
}

export interface Place {
  /** Without links. */
  readonly folder: string
  readonly memoryMb: number
}

export const startFlags = (version: string, { folder, memoryMb }: Place): readonly string[] => {
  const known = numbers(version)
  if (known[0] < FIRST)
    throw new TrihandError('ISOLATION_UNAVAILABLE', `Node.js ${version} has no permissions; isolation takes ${FIRST}`)
  // Either would make the flag mean more than this folder.
  if (/[,*]/.test(folder)) throw new TrihandError('LOAD_FAILED', `${folder} has a comma or an asterisk in its name`)
  return [
    permissionFlag(known),
    `--allow-fs-read=${folder}/`,
    // For the program below alone, which shuts it again before any other code is there.
    '--expose-internals',
    '--no-addons',
    '--no-warnings',
    `--max-old-space-size=${memoryMb}`,
    '--eval',
    PROGRAM,
  ]
}
