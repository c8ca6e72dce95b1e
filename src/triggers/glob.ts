/**
 * Paths with wildcards: `*` within a folder, `**` across folders, `?` for one character.
 *
 * Owns the syntax. Never touches a disk.
 */
const MAGIC = /[*?]/

/** The folder or file that a watcher must look at. */
export const baseOf = (glob: string): string => {
  const parts = glob.split('/')
  const magic = parts.findIndex((part) => MAGIC.test(part))
  const base = magic < 0 ? glob : parts.slice(0, magic).join('/')
  return base === '' ? (glob.startsWith('/') ? '/' : '.') : base
}

const partOf = (part: string): string =>
  part === '**'
    ? '(?:[^/]+/)*'
    : `${part
        .replace(/[.+^${}()|[\]\\]/g, '\\$&')
        .replaceAll('*', '[^/]*')
        .replaceAll('?', '[^/]')}/`

/** Returns whether a path, written with `/`, matches one of the globs. */
export const globMatcher = (globs: readonly string[]): ((path: string) => boolean) => {
  const patterns = globs.map((glob) => {
    const parts = glob.replace(/^\.\//, '').split('/')
    const isOpenEnded = parts.at(-1) === '**'
    const text = parts.map(partOf).join('')
    return new RegExp(`^${isOpenEnded ? `${text}[^/]+` : text.replace(/\/$/, '')}$`)
  })
  return (path) => patterns.some((pattern) => pattern.test(path))
}
