/** The edge's own dice: nonces of pages and names of errors. Nothing in the ledger is ever named here. */
import { randomBytes } from 'node:crypto'

const BYTES = 16

export const randomText = (): string => randomBytes(BYTES).toString('base64url')
