/**
 * A tool that agents may call, as an author writes it.
 *
 * Owns only the options. manifest/define/tools.ts makes the normal form, with refusals; ports/tool.ts is the tool that is called.
 */

/** `none` reads only. `idempotent` may be done again under the same key. `once` may not: if its answer is lost, a person is asked. */
export type ToolEffect = 'none' | 'idempotent' | 'once'

/** What a tool declares besides its code: `{ description: 'Finds a customer', input: Query, effect: 'none' }`. */
export interface ToolOptions {
  /** What it does, in words for the model. Default: nothing. */
  readonly description?: string
  /** The schema of its input: JSON Schema, or a schema whose library can write it as such. Checked before every call. Default: any object. */
  readonly input?: unknown
  /** The schema of its answer, as `input`. Default: any JSON. */
  readonly output?: unknown
  /** Its effect on the outside; required, because it decides what a repeat may do. */
  readonly effect: ToolEffect
  /** True, or a CEL rule over `input` (`input.amount > 100`): a person approves the call first. Default: false. */
  readonly approval?: boolean | string
  /** True: it sends something to the outside, so a call needs approval once the agent has read untrusted content. Default: false. */
  readonly egress?: boolean
  /** True: what it returns was written by strangers. Default: false. */
  readonly untrusted?: boolean
  /** How long a call may take, in milliseconds. Default: 30,000. */
  readonly timeoutMs?: number
  /** The most characters of an answer that the model gets; the rest is cut. Default: 30,000. */
  readonly maxOutputChars?: number
}

/** A tool with its code, as `tool` gives it to a system. */
export interface ToolSource extends ToolOptions {
  /** The name by which agents allow it: a letter, then at most 127 of `A-Z a-z 0-9 _ . / -`. */
  readonly name: string
  /** Its code: receives the checked input and its surroundings, returns JSON. */
  readonly run: (input: never, context: never) => unknown
}
