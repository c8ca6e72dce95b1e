/**
 * Directories of agents: a cache of facts, rebuilt from blobs whenever it differs from the facts.
 *
 * workspaces-1  An opened workspace holds exactly the files it was asked for, whatever was there before.
 * workspaces-2  No path leads out of it.
 */
import type { FileFact } from '#model/agent/state.ts'
import type { Workspace } from './tool.ts'

export interface Workspaces {
  /** `key` names the directory; `files` are its files according to the ledger. */
  open(key: string, files: readonly FileFact[]): Promise<OpenWorkspace>
  /** Removes the directory, never the facts. */
  remove(key: string): Promise<void>
}

export interface OpenWorkspace extends Workspace {
  /** Stores what was changed since the workspace was opened in blobs, and returns the changes: null hashes for removed files. */
  commit(): Promise<readonly FileFact[]>
  /** Releases the workspace. Changes that were not committed are lost. */
  close(): void
}
