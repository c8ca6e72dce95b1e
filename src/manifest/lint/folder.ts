/** The folder of a manifest as lint sees it: its files and their text. Nothing in it is executed. */
export interface Folder {
  /** Paths from the manifest's folder, with `/`. */
  readonly paths: readonly string[]
  /** The text of a file. */
  read(path: string): string
}

/** A path that leaves the folder is refused, whether or not it exists. */
export const escapes = (path: string): boolean =>
  path.startsWith('/') || /^[A-Za-z]:/.test(path) || path.includes('\0') || path.split(/[\\/]/).includes('..')
