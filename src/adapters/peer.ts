/**
 * Loads an optional package.
 *
 * Owns the error for an absent one, with the command that installs it. Any other failure is the package's own and passes through.
 */
import { TrihandError } from '#model/kernel/errors.ts'

/** Node's error code, and the error that a bundler leaves in place of an optional peer that was absent when it ran. */
const isMissing = (error: unknown): boolean =>
  error instanceof Error &&
  (('code' in error && error.code === 'ERR_MODULE_NOT_FOUND') || error.message.startsWith('Could not resolve "'))

export const loadPeer = async <Peer>(name: string, load: () => Promise<Peer>): Promise<Peer> => {
  try {
    return await load()
  } catch (error) {
    if (!isMissing(error)) throw error
    throw new TrihandError('PEER_MISSING', `${name} is not installed; run: npm install ${name}`, { cause: error })
  }
}
