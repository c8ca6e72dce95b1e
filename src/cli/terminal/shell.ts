/** The context of every command: its output, the settings and the environment; and the flags that every command takes. */
import type { Environment, Settings } from '#cli/connect/settings.ts'
import type { Output } from './output.ts'

export interface Shell {
  readonly output: Output
  readonly settings: Settings
  readonly env: Environment
  /** Names that were set by the file `.env`. */
  readonly fromFile: ReadonlySet<string>
}

export interface CommonFlags {
  readonly server?: string
  readonly database?: string
  /** Folder or file of the system, for commands that open the ledger themselves. */
  readonly system?: string
}

/** A command returns its exit code. */
export type Verb<Flags> = (shell: Shell, flags: Flags) => Promise<number>
