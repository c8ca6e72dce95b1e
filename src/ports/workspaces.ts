/**
 * Directories of agents: a cache of facts, rebuilt from blobs whenever it is not what the facts say.
 *
 * workspaces-1  An opened workspace holds exactly the files it was asked for, whatever was there before.
 * workspaces-2  No path leads out of it.
 */
import type { FileFact } from '#model/agent/state.ts'
import type { Workspace } from './tool.ts'

export interface Workspaces {
  /** `key` names the directory; `files` are what the ledger knows of it. */
  open(key: string, files: readonly FileFact[]): Promise<OpenWorkspace>
  /** Removes the directory, never the facts. */
  remove(key: string): Promise<void>
}

export interface OpenWorkspace extends Workspace {
  /** Puts what was changed since it was opened into blobs and says what it was: null hashes for what was removed. */
  commit(): Promise<readonly FileFact[]>
  /** Lets go of it. Changes that were not committed are forgotten. */
  close(): void
}
