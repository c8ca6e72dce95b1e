/** Chance for what nobody may guess: credentials and signing keys. */
import { randomBytes } from 'node:crypto'

const BYTES = 32

export const drawSecret = (): string => randomBytes(BYTES).toString('base64url')
