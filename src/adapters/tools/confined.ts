/**
 * A folder that no path can leave: every part of a path is opened on its own, and links are never followed.
 *
 * Owns the walk. On Linux each part is opened below the descriptor of the one before it, so that no other process can put a link in
 * between; on other systems the path is resolved, checked, and the resolved path is opened.
 *
 * confined-1  `..`, absolute paths, links of any kind, hard links, devices and pipes are refused, even if another process swaps them.
 */
import { randomBytes } from 'node:crypto'
import { constants } from 'node:fs'
import { type FileHandle, lstat, mkdir, open, readdir, realpath, rename, unlink } from 'node:fs/promises'
import { join, sep } from 'node:path'
import { TrihandError } from '#model/kernel/errors.ts'

const { O_CREAT, O_DIRECTORY, O_EXCL, O_NOFOLLOW, O_NONBLOCK, O_RDONLY, O_WRONLY } = constants
const MAX_PARTS = 32
const MAX_NAME_BYTES = 255
const TEMPORARY = '.trihand-'
const HAS_DESCRIPTOR_PATHS = process.platform === 'linux'

const escapes = (path: string, why: string): TrihandError =>
  new TrihandError('PATH_ESCAPE', `${JSON.stringify(path)} ${why}`)
const notRegular = (path: string): TrihandError => new TrihandError('FILE_NOT_REGULAR', `${path} is not a regular file`)
const missing = (path: string): TrihandError => new TrihandError('NOT_FOUND', `the file ${path} does not exist`)

/** The parts of a path inside the folder; throws PATH_ESCAPE for anything else. */
export const partsOf = (path: string): readonly string[] => {
  if (path === '' || path.includes('\0')) throw escapes(path, 'is empty or has a NUL')
  if (path.startsWith('/') || path.includes('\\') || /^[A-Za-z]:/.test(path)) throw escapes(path, 'is not relative')
  const parts = path.split('/').filter((part) => part !== '.')
  if (parts.length === 0 || parts.length > MAX_PARTS) throw escapes(path, `must have 1 to ${MAX_PARTS} parts`)
  for (const part of parts) {
    if (part === '..' || part === '') throw escapes(path, 'contains . or ..')
    if (Buffer.byteLength(part) > MAX_NAME_BYTES) throw escapes(path, 'has a name that is too long')
    if (part.startsWith(TEMPORARY)) throw escapes(path, 'has a reserved name')
  }
  return parts
}

const codeOf = (error: unknown): string => String((error as { readonly code?: unknown }).code)

/** The error for a failed walk. Which of two codes it has may depend on a race; that the path is refused does not. */
const told = async (error: unknown, at: string, path: string): Promise<TrihandError> => {
  const code = codeOf(error)
  if (code === 'ENOENT') return missing(path)
  if (code === 'ELOOP') return escapes(path, 'is a link')
  if (code === 'ENOTDIR') {
    const isLink = await lstat(at).then(
      (found) => found.isSymbolicLink(),
      () => true,
    )
    return isLink ? escapes(path, 'goes through a link') : notRegular(path)
  }
  if (code === 'EISDIR' || code === 'ENXIO') return notRegular(path)
  return new TrihandError('TOOL_FAILED', `${path}: ${code}`, { cause: error })
}

export class ConfinedFolder {
  private readonly root: string

  constructor(root: string) {
    this.root = root
  }

  async read(path: string, maxBytes: number): Promise<Uint8Array> {
    const parts = partsOf(path)
    return this.inFolder(parts, path, false, async (at, name) => {
      const target = join(at, name)
      const file = await open(target, O_RDONLY | O_NOFOLLOW | O_NONBLOCK).catch(async (error: unknown) => {
        throw await told(error, target, path)
      })
      try {
        const found = await file.stat()
        if (!found.isFile() || found.nlink > 1) throw notRegular(path)
        if (found.size > maxBytes)
          throw new TrihandError('WORKSPACE_QUOTA', `${path} has ${found.size} bytes; at most ${maxBytes} are allowed`)
        return new Uint8Array(await file.readFile())
      } finally {
        await file.close()
      }
    })
  }

  /** Atomic: a concurrent reader sees the old file or the new one. */
  async write(path: string, bytes: Uint8Array): Promise<void> {
    const parts = partsOf(path)
    await this.inFolder(parts, path, true, async (at, name, folder) => {
      await this.requirePlain(join(at, name), path)
      const temporary = join(at, `${TEMPORARY}${randomBytes(8).toString('hex')}`)
      const file = await open(temporary, O_CREAT | O_EXCL | O_NOFOLLOW | O_WRONLY, 0o600)
      try {
        await file.writeFile(bytes)
        await file.sync()
      } finally {
        await file.close()
      }
      await rename(temporary, join(at, name)).catch(async (error: unknown) => {
        await unlink(temporary).catch(() => {})
        throw await told(error, join(at, name), path)
      })
      await folder.sync()
    })
  }

  async remove(path: string): Promise<void> {
    const parts = partsOf(path)
    await this.inFolder(parts, path, false, async (at, name) => {
      await this.requirePlain(join(at, name), path)
      await unlink(join(at, name)).catch(async (error: unknown) => {
        throw await told(error, join(at, name), path)
      })
    })
  }

  /** Lists plain files only: links and the like are left out. */
  async list(maxFiles: number): Promise<readonly { readonly path: string; readonly bytes: number }[]> {
    const files: { path: string; bytes: number }[] = []
    const visit = async (parts: readonly string[]): Promise<void> => {
      if (parts.length > MAX_PARTS || files.length > maxFiles) return
      const folder = await this.walk(parts, parts.join('/'), false)
      try {
        for (const entry of await readdir(this.pathOf(folder, parts), { withFileTypes: true })) {
          if (entry.name.startsWith(TEMPORARY)) continue
          if (entry.isDirectory()) await visit([...parts, entry.name])
          if (!entry.isFile()) continue
          const found = await lstat(join(this.pathOf(folder, parts), entry.name))
          if (found.isFile() && found.nlink === 1)
            files.push({ path: [...parts, entry.name].join('/'), bytes: found.size })
        }
      } finally {
        await folder.close()
      }
    }
    await visit([])
    return files.sort((a, b) => (a.path < b.path ? -1 : 1))
  }

  /** Opens the folder of the last part, and passes on a path to it that no other process can redirect. */
  private async inFolder<T>(
    parts: readonly string[],
    path: string,
    creates: boolean,
    work: (at: string, name: string, folder: FileHandle) => Promise<T>,
  ): Promise<T> {
    const above = parts.slice(0, -1)
    const folder = await this.walk(above, path, creates)
    try {
      return await work(this.pathOf(folder, above), parts.at(-1) ?? '', folder)
    } finally {
      await folder.close()
    }
  }

  private pathOf(folder: FileHandle, parts: readonly string[]): string {
    return HAS_DESCRIPTOR_PATHS ? `/proc/self/fd/${folder.fd}` : join(this.root, ...parts)
  }

  private async walk(parts: readonly string[], path: string, creates: boolean): Promise<FileHandle> {
    let folder = await open(this.root, O_RDONLY | O_DIRECTORY | O_NOFOLLOW)
    for (const [index, part] of parts.entries()) {
      const at = join(this.pathOf(folder, parts.slice(0, index)), part)
      try {
        if (creates) await mkdir(at, { mode: 0o700 }).catch(ignoreExisting)
        if (!HAS_DESCRIPTOR_PATHS) await this.requireInside(at, path)
        const next = await open(at, O_RDONLY | O_DIRECTORY | O_NOFOLLOW)
        await folder.close()
        folder = next
      } catch (error) {
        const refused = error instanceof TrihandError ? error : await told(error, at, path)
        await folder.close()
        throw refused
      }
    }
    return folder
  }

  private async requireInside(at: string, path: string): Promise<void> {
    const [root, resolved] = await Promise.all([realpath(this.root), realpath(at)])
    if (!resolved.startsWith(`${root}${sep}`)) throw escapes(path, 'is outside the workspace')
  }

  private async requirePlain(at: string, path: string): Promise<void> {
    const found = await lstat(at).catch((error: unknown) => {
      if (codeOf(error) === 'ENOENT') return null
      throw error
    })
    if (found === null) return
    if (found.isSymbolicLink()) throw escapes(path, 'is a link')
    if (!found.isFile() || found.nlink > 1) throw notRegular(path)
  }
}

const ignoreExisting = (error: unknown): void => {
  if (codeOf(error) !== 'EEXIST') throw error
}
