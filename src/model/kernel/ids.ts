/**
 * Identifiers: branded ids with a prefix each, and time as a number of milliseconds.
 *
 * Owns how they are spelled. Never creates a new id: new ids come from the Ids port.
 */
declare const brand: unique symbol
type Branded<Name extends string> = string & { readonly [brand]: Name }

/** The id of a run: `run_…`. */
export type RunId = Branded<'run'>
/** The id of a session: `ses_…`. */
export type SessionId = Branded<'session'>
export type GateId = Branded<'gate'>
export type ScheduleId = Branded<'schedule'>
export type QueueId = Branded<'queue'>
/** The id of a task: `tsk_…`. */
export type TaskId = Branded<'task'>
/** A coordinator starts runs and executes no step itself: a handler's gate, a schedule, or a queue. */
export type CoordinatorId = GateId | ScheduleId | QueueId
/** A child of a run, which starts it and waits for it: another run, or a task for people. */
export type ChildId = RunId | TaskId
/** A stream that can be due, claimed by a worker, signalled, and the parent of a run. */
export type ClaimableId = RunId | CoordinatorId | TaskId
/** A stream is one ordered, hash-chained list of facts: a run's, a coordinator's, a task's or a session's. */
export type StreamId = ClaimableId | SessionId
export type WorkerId = Branded<'worker'>
/** The name of a tenant: `local`, `acme`. */
export type TenantId = Branded<'tenant'>
export type TokenId = Branded<'token'>
export type PlanId = Branded<'plan'>

/** Milliseconds since the Unix epoch, UTC. */
export type Instant = number

export const LOCAL_TENANT = 'local' as TenantId
/** The tenant of what belongs to the server itself. No real tenant can have this name. */
export const SERVER_TENANT = '*' as TenantId

const TENANT = /^[a-z0-9][a-z0-9_-]{0,62}$/
export const isTenantId = (text: string): text is TenantId => TENANT.test(text)

const STREAM = /^(run|ses|gat|sch|tsk|que)_[0-9a-f]{32}$/
const BARE = /^[0-9a-f]*$/
const bare = (text: string): string => (BARE.test(text) ? text : text.replaceAll('-', '').toLowerCase())

/** The id of the run with this uuid, given with or without dashes. */
export const runId = (uuid: string): RunId => `run_${bare(uuid)}` as RunId
/** Digests are base64url: two of its digits hold 12 bits, which are three hex digits. */
const BASE64URL = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
const hexOf = (digest: string): string => {
  let hex = ''
  for (let i = 0; i + 1 < digest.length; i += 2) {
    const bits = BASE64URL.indexOf(digest.charAt(i)) * 64 + BASE64URL.indexOf(digest.charAt(i + 1))
    hex += bits.toString(16).padStart(3, '0')
  }
  return hex
}

/** A uuid that sorts by time like any other, and is the same in every process for the same digest. */
export const timedUuid = (at: Instant, digest: string): string => {
  const hex = hexOf(digest)
  return `${Math.max(0, at).toString(16).padStart(12, '0')}7${hex.slice(0, 3)}8${hex.slice(3, 18)}`
}
/** A run id that sorts by time like any other, and is the same in every process for the same digest. */
export const timedRunId = (at: Instant, digest: string): RunId => runId(timedUuid(at, digest))
/** The public id of a token is a part of its hash, so a request that carries the token also identifies it. */
export const tokenId = (digest: string): TokenId => `tok_${hexOf(digest).slice(0, 32)}` as TokenId
export const isTokenId = (text: string): text is TokenId => /^tok_[0-9a-f]{32}$/.test(text)
export const planId = (uuid: string): PlanId => `pln_${bare(uuid)}` as PlanId
export const isPlanId = (text: string): text is PlanId => /^pln_[0-9a-f]{32}$/.test(text)
/** Tables are read in key order: a key that counts down puts the newest first. */
export const newestFirstKey = (id: PlanId | RunId): string =>
  id.slice('pln_'.length).replaceAll(/[0-9a-f]/g, (digit) => (15 - Number.parseInt(digit, 16)).toString(16))
export const sessionId = (uuid: string): SessionId => `ses_${bare(uuid)}` as SessionId

/**
 * The id of a coordinator is derived from what it coordinates, so that every process means the same stream. The version digit of its uuid (8:
 * made by the application) and the digit after it distinguish it from a run where only the uuid is stored.
 */
const GATE_DIGITS = '81'
const SCHEDULE_DIGITS = '82'
const TASK_DIGITS = '83'
const QUEUE_DIGITS = '84'
const marked = (digest: string, digits: string): string => {
  const hex = hexOf(digest)
  return `${hex.slice(0, 12)}${digits}${hex.slice(14, 32)}`
}
export const gateId = (digest: string): GateId => `gat_${marked(digest, GATE_DIGITS)}` as GateId
export const scheduleId = (digest: string): ScheduleId => `sch_${marked(digest, SCHEDULE_DIGITS)}` as ScheduleId
export const queueId = (digest: string): QueueId => `que_${marked(digest, QUEUE_DIGITS)}` as QueueId

/** Every task is new, and its id keeps the time at the front of the uuid: task ids sort by the time they were asked. */
export const taskId = (uuid: string): TaskId => {
  const digits = bare(uuid)
  return `tsk_${digits.slice(0, 12)}${TASK_DIGITS}${digits.slice(14)}` as TaskId
}

/** The id for a stored uuid that is known not to be a session's. */
export const claimableId = (uuid: string): ClaimableId => {
  const digits = bare(uuid)
  switch (digits.slice(12, 14)) {
    case GATE_DIGITS:
      return `gat_${digits}` as GateId
    case SCHEDULE_DIGITS:
      return `sch_${digits}` as ScheduleId
    case TASK_DIGITS:
      return `tsk_${digits}` as TaskId
    case QUEUE_DIGITS:
      return `que_${digits}` as QueueId
    default:
      return runId(digits)
  }
}

/** A uuid that is the same in every process for the same digest, with dashes, because other systems read it. */
export const taskUuid = (digest: string): string => {
  const hex = hexOf(digest)
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`
}

/** The session with a name: the same id in every process. */
export const namedSessionId = (digest: string): SessionId => sessionId(hexOf(digest).slice(0, 32))

export const workerId = (uuid: string): WorkerId => `wrk_${bare(uuid)}` as WorkerId

const WORKER = /^wrk_[0-9a-f]{32}$/
export const isWorkerId = (text: string): text is WorkerId => WORKER.test(text)

export const isStreamId = (text: string): text is StreamId => STREAM.test(text)
export const isSessionId = (text: string): text is SessionId => text.startsWith('ses_') && STREAM.test(text)
export const isClaimable = (stream: StreamId): stream is ClaimableId => !isSessionId(stream)
export const isTaskId = (text: string): text is TaskId => text.startsWith('tsk_') && STREAM.test(text)
export const isRunId = (text: string): text is RunId => text.startsWith('run_') && STREAM.test(text)

// Some stores cut or refuse control characters, and all of them replace half of a surrogate pair: two different texts could become one.
// biome-ignore lint/suspicious/noControlCharactersInRegex: refusing control characters is the point
const UNSTORABLE = /[\u0000-\u001f\u007f\ud800-\udfff]/u

/** True for a text that every store returns unchanged: not empty, not too long, and without characters that a store would change. */
export const isPlainText = (text: string, maxLength: number): boolean =>
  text.length > 0 && text.length <= maxLength && !UNSTORABLE.test(text)
