/** What every verb is given: where to speak, what the environment says. And the flags that every verb takes. */
import type { Environment, Settings } from '#cli/connect/settings.ts'
import type { Output } from './output.ts'

export interface Shell {
  readonly output: Output
  readonly settings: Settings
  readonly env: Environment
  /** Names that the file `.env` has set. */
  readonly fromFile: ReadonlySet<string>
}

export interface CommonFlags {
  readonly server?: string
  readonly database?: string
  /** Folder or file of the system, for verbs that open the ledger themselves. */
  readonly system?: string
}

/** A verb answers the code to end with. */
export type Verb<Flags> = (shell: Shell, flags: Flags) => Promise<number>
