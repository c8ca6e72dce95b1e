/**
 * A finding about a manifest, a mistake or a remark: a code, a place, a hint.
 *
 * Owns the codes that are findings but not errors, and their hints. Errors have their rows in model/kernel/errors.ts.
 */
import { ERRORS, type ErrorCode } from '#model/kernel/errors.ts'

export type Level = 'error' | 'warning' | 'info'

// biome-ignore format: one row per code reads as a table
export const LINTS = {
  MANIFEST_UNKNOWN_KEY: 'Fix the spelling, or begin the key with x- to keep it as a note.',
  LINT_EVENT_UNDECLARED: 'Declare the event under events, with its payload.',
  LINT_EVENT_UNHEARD: 'Give it a listener, or set terminal: true.',
  LINT_EVENT_UNPRODUCED: 'Send it somewhere, or set source: external or human.',
  LINT_CYCLE: 'Put a human, a rate_limit or a throttle into the cycle, or set allow_reentry.',
  LINT_SCHEMA_MISMATCH: 'Use the same field on both sides, or provide it with data.',
  LINT_STATE_UNREACHABLE: 'Add a transition to it, or remove the state.',
  LINT_STATE_DEAD_END: 'Add a transition out of it, or set terminal: true.',
  LINT_STATE_UNKNOWN: 'Declare the state in the state machine, or fix the spelling.',
  LINT_ESCALATION_FIELD: 'Name a field of the output schema: a rule that cannot be evaluated always escalates.',
  LINT_AUTO_APPROVE: 'Make the timeout escalate or expire: the next step cannot be undone.',
  LINT_HANDLER_MISSING: 'Write the code. Until then, runs that events start wait for it, and a start by name is refused.',
  LINT_FILE_MISSING: 'Add the file, or fix the path.',
  LINT_UNUSED_FILE: 'Use it in the manifest, or remove the file.',
  LINT_SCHEDULE_TZ: 'Set the time zone of the schedule, or defaults.tz.',
  LINT_SCHEDULE_DUPLICATE: 'Keep one of the two.',
  LINT_NAME_SHADOWED: 'Rename one of them; the first in the order of roots is used.',
  LINT_TOOL_WIDER: 'Allow the tool to the parent or list it in the module, or remove it from the agent.',
  LINT_NOT_ISOLATED: 'Set isolation: process and move its code to the folder of the module. If you trust the code, ignore this.',
  LINT_TOOL_UNKNOWN: 'Fix the name, or register the tool.',
  LINT_FIELD_UNKNOWN: 'Fix the name, declare the field, or guard it with has().',
  LINT_NAME_UNKNOWN: 'Fix the spelling, or declare the name.',
  LINT_EMIT_AMBIGUOUS: 'Give each of them a condition.',
  LINT_ENV_MISSING: 'Set the variable before the start, or give the reference a default.',
  LINT_SECRET_LITERAL: 'Write a reference to the environment, with a dollar sign and braces, and set the variable.',
  LINT_ACCESS_NOT_ENFORCED: 'Only `<column> = :actor` is enforced; check the rest in the function.',
  LINT_WEBHOOK_UNSIGNED: 'Give it a secret, as a reference to the environment: without one a server with this manifest does not start.',
  LINT_WEBHOOK_ELSEWHERE: 'Configure the gateway to forward deliveries to the path in the message.',
  LINT_QUEUE_UNREAD: 'Give a function source with the name of the queue, or remove it.',
  LINT_NOT_USED: 'It is stored and shown, but nothing reads it yet.',
} as const satisfies Record<string, string>

export type LintCode = keyof typeof LINTS
export type FindingCode = ErrorCode | LintCode

export interface Finding {
  readonly level: Level
  readonly code: FindingCode
  readonly message: string
  readonly file: string
  readonly line: number
  readonly column: number
  /** Separated by dots, with the names of things: `functions.greet.timeout`. Empty: the whole file. */
  readonly path: string
  readonly hint: string
}

/** A finding before its place in the text is known. */
export interface Remark {
  readonly level: Level
  readonly code: FindingCode
  readonly message: string
  readonly path: Path
  readonly hint?: string
  /** Whether the key is meant, or its value. */
  readonly on?: 'key' | 'value'
  /** The offset inside the value, from 0. */
  readonly offset?: number
}

export type AddFinding = (remark: Remark) => void

export type Path = readonly (string | number)[]

const isLint = (code: FindingCode): code is LintCode => Object.hasOwn(LINTS, code)

export const hintOf = (code: FindingCode): string => (isLint(code) ? LINTS[code] : ERRORS[code].hint)

export const pathText = (path: Path): string => path.join('.')
