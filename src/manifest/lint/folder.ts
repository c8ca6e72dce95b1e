/** The folder of a manifest as lint sees it: the files in it and their text. Nothing in it is executed. */
export interface Folder {
  /** Paths from the manifest's folder, with `/`. */
  readonly paths: readonly string[]
  /** The text of one of them. */
  read(path: string): string
}

/** Whoever leaves the folder is refused, whatever is there. */
export const escapes = (path: string): boolean =>
  path.startsWith('/') || /^[A-Za-z]:/.test(path) || path.includes('\0') || path.split(/[\\/]/).includes('..')
