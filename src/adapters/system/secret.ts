/** Random text that cannot be guessed, for credentials and signing keys. */
import { randomBytes } from 'node:crypto'

const BYTES = 32

export const drawSecret = (): string => randomBytes(BYTES).toString('base64url')
