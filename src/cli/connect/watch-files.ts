/**
 * Calls back when source files below a folder change, a moment after the last change.
 *
 * Owns which files count: code and data that a system may consist of. Never reads them, and never ends a server because a folder cannot be
 * watched.
 */
import { type FSWatcher, readdirSync, watch } from 'node:fs'
import { join } from 'node:path'

const SOURCE = /\.(ts|mts|js|mjs|json|yaml|yml|md)$/
const QUIET_MS = 100
const MAX_FOLDERS = 200

const isWatched = (name: string): boolean => !name.startsWith('.') && name !== 'node_modules'

/** The folder and those below it, without hidden folders and packages. */
const foldersBelow = (root: string): readonly string[] => {
  const folders = [root]
  for (const folder of folders) {
    if (folders.length >= MAX_FOLDERS) break
    for (const entry of readdirSync(folder, { withFileTypes: true })) {
      if (entry.isDirectory() && isWatched(entry.name)) folders.push(join(folder, entry.name))
    }
  }
  return folders
}

export interface Watching {
  readonly changed: () => void
  /** Called if some changes will not be noticed. */
  readonly lost: (reason: unknown) => void
}

/** Calls back after changes; returns the function that ends the watch. */
export const watchFiles = (root: string, { changed, lost }: Watching): (() => void) => {
  const watchers: FSWatcher[] = []
  let timer: NodeJS.Timeout | undefined
  const notice = (_: string, name: string | null): void => {
    if (name !== null && (!isWatched(name) || !SOURCE.test(name))) return
    clearTimeout(timer)
    timer = setTimeout(changed, QUIET_MS)
  }
  try {
    for (const folder of foldersBelow(root)) watchers.push(watch(folder, notice).on('error', lost))
  } catch (error) {
    lost(error)
  }
  return () => {
    clearTimeout(timer)
    for (const watcher of watchers) watcher.close()
  }
}
