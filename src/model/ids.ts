/**
 * Names of things: branded ids with a prefix each, and time as a number of milliseconds.
 *
 * Owns their spelling. Never draws one: new ids arrive through the Ids port.
 */
declare const brand: unique symbol
type Branded<Name extends string> = string & { readonly [brand]: Name }

export type RunId = Branded<'run'>
export type SessionId = Branded<'session'>
/** A stream is one ordered, hash-chained list of facts: a run's or a session's. */
export type StreamId = RunId | SessionId
export type WorkerId = Branded<'worker'>
export type TenantId = Branded<'tenant'>

/** Milliseconds since the Unix epoch, UTC. */
export type Instant = number

export const LOCAL_TENANT = 'local' as TenantId

const STREAM = /^(run|ses)_[0-9a-f]{32}$/
const bare = (text: string): string => text.replaceAll('-', '').toLowerCase()

/** A uuid with or without dashes becomes a run's name on the wire. */
export const runId = (uuid: string): RunId => `run_${bare(uuid)}` as RunId
export const sessionId = (uuid: string): SessionId => `ses_${bare(uuid)}` as SessionId
export const workerId = (uuid: string): WorkerId => `wrk_${bare(uuid)}` as WorkerId

export const isStreamId = (text: string): text is StreamId => STREAM.test(text)
export const isRunId = (text: string): text is RunId => STREAM.test(text) && text.startsWith('run_')

// Some stores cut or refuse control characters, and all replace half a surrogate pair: two texts could become one.
// biome-ignore lint/suspicious/noControlCharactersInRegex: refusing control characters is the point
const UNSTORABLE = /[\u0000-\u001f\u007f\ud800-\udfff]/u

/** A text that every store gives back as it was: not empty, not too long, nothing that a store would change. */
export const isPlainText = (text: string, maxLength: number): boolean =>
  text.length > 0 && text.length <= maxLength && !UNSTORABLE.test(text)
