/** Randomness for the HTTP layer: nonces of pages and ids of errors. Never used for ids in the ledger. */
import { randomBytes } from 'node:crypto'

const BYTES = 16

export const randomText = (): string => randomBytes(BYTES).toString('base64url')
