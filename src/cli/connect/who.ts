/** The acting person, given by `--as` and `--groups`. Owns their headers, and the rule that an actor must have a name. */
import type { CommonFlags } from '#cli/terminal/shell.ts'
import { TrihandError } from '#model/kernel/errors.ts'
import type { Headers } from './api.ts'

export interface WhoFlags extends CommonFlags {
  readonly as?: string
  readonly groups?: string
}

export const headersOf = ({ as, groups }: WhoFlags): Headers => ({
  ...(as === undefined ? {} : { 'x-trihand-user': encodeURIComponent(as) }),
  ...(groups === undefined ? {} : { 'x-trihand-groups': encodeURIComponent(groups) }),
})

export const requireWho = (flags: WhoFlags): Headers => {
  if (flags.as === undefined)
    throw new TrihandError(
      'UNAUTHENTICATED',
      'name the acting person: --as <user>, with --groups if the task is for a group',
    )
  return headersOf(flags)
}
