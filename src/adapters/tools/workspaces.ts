/**
 * Workspaces as directories: a cache of the files in the ledger, rebuilt from blobs whenever it differs.
 *
 * Owns the marker beside each directory that identifies its files, and the quota. The ledger is the truth: uncommitted changes are gone at
 * the next opening.
 */
import { createHash } from 'node:crypto'
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { FileFact } from '#model/agent/state.ts'
import { TrihandError } from '#model/kernel/errors.ts'
import type { Blobs } from '#ports/blobs.ts'
import type { Workspace } from '#ports/tool.ts'
import type { OpenWorkspace, Workspaces } from '#ports/workspaces.ts'
import { ConfinedFolder } from './confined.ts'

const MAX_FILES = 1_000
const MAX_BYTES = 64 * 1024 * 1024
const KEY = /^[A-Za-z0-9_-]{1,128}$/

export interface WorkspacesDeps {
  /** The directory that holds all workspaces. */
  readonly root: string
  readonly blobs: Blobs
  /** Returns the address of a blob. */
  digest(text: string): string
}

type Files = ReadonlyMap<string, FileFact>

const byPath = (files: readonly FileFact[]): Files => new Map(files.map((file) => [file.path, file]))

const markerOf = (files: Files): string => {
  const lines = [...files.values()].map(({ path, hash, encoding }) => JSON.stringify([path, hash, encoding])).sort()
  return createHash('sha256').update(lines.join('\n')).digest('hex')
}

/** Text stays text; other bytes are base64, so that every store can keep them. */
const encoded = (bytes: Uint8Array): { readonly text: string; readonly encoding: FileFact['encoding'] } => {
  const buffer = Buffer.from(bytes)
  const text = buffer.toString('utf8')
  if (!buffer.includes(0) && Buffer.from(text, 'utf8').equals(buffer)) return { text, encoding: 'utf8' }
  return { text: buffer.toString('base64'), encoding: 'base64' }
}

/** How many callers have the directory open with the same files: while one does, it is not rebuilt. */
interface Use {
  readonly marker: string
  count: number
}

export class FileWorkspaces implements Workspaces {
  private readonly deps: WorkspacesDeps
  private readonly uses = new Map<string, Use>()
  private readonly turns = new Map<string, Promise<unknown>>()

  constructor(deps: WorkspacesDeps) {
    this.deps = deps
  }

  open(key: string, files: readonly FileFact[]): Promise<OpenWorkspace> {
    if (!KEY.test(key)) throw new TrihandError('PATH_ESCAPE', `"${key}" is not a workspace`)
    return this.inTurn(key, async () => {
      const wanted = byPath(files)
      const marker = markerOf(wanted)
      const use = this.uses.get(key)
      if (use === undefined || use.marker !== marker) {
        if ((await this.marker(key)) !== marker) await this.rebuild(key, wanted, marker)
        this.uses.set(key, { marker, count: 0 })
      }
      const held = this.uses.get(key) as Use
      held.count++
      const place = { folder: new ConfinedFolder(join(this.deps.root, key)), files: wanted }
      return new Opened(this.deps, place, {
        soil: () => rm(this.markerPath(key), { force: true }),
        settle: (next) => writeFile(this.markerPath(key), markerOf(next), { mode: 0o600 }),
        close: () => {
          held.count--
          if (held.count === 0 && this.uses.get(key) === held) this.uses.delete(key)
        },
      })
    })
  }

  async remove(key: string): Promise<void> {
    await this.inTurn(key, async () => {
      await rm(this.markerPath(key), { force: true })
      await rm(join(this.deps.root, key), { recursive: true, force: true })
    })
  }

  /** Serialises work per directory: two concurrent openings must not both rebuild it. */
  private inTurn<T>(key: string, work: () => Promise<T>): Promise<T> {
    const before = this.turns.get(key) ?? Promise.resolve()
    const mine = before.then(work, work)
    const settled = mine.catch(() => {})
    this.turns.set(key, settled)
    void settled.then(() => {
      if (this.turns.get(key) === settled) this.turns.delete(key)
    })
    return mine
  }

  private markerPath(key: string): string {
    return join(this.deps.root, `${key}.marker`)
  }

  private marker(key: string): Promise<string | null> {
    return readFile(this.markerPath(key), 'utf8').catch(() => null)
  }

  private async rebuild(key: string, files: Files, marker: string): Promise<void> {
    const path = join(this.deps.root, key)
    await rm(this.markerPath(key), { force: true })
    await rm(path, { recursive: true, force: true })
    await mkdir(path, { recursive: true, mode: 0o700 })
    const folder = new ConfinedFolder(path)
    for (const file of files.values()) await folder.write(file.path, await this.content(file))
    await writeFile(this.markerPath(key), marker, { mode: 0o600 })
  }

  private async content({ path, hash, encoding }: FileFact): Promise<Uint8Array> {
    const text = hash === null ? null : await this.deps.blobs.get(hash)
    if (text === null) throw new TrihandError('BLOB_MISSING', `the content of ${path} is missing`)
    return Buffer.from(text, encoding)
  }
}

interface Hooks {
  /** Called before the first change: from now on no fact describes the directory. */
  soil(): Promise<unknown>
  /** Called when the directory contains exactly these files. */
  settle(files: Files): Promise<unknown>
  close(): void
}

class Opened implements OpenWorkspace {
  private readonly deps: WorkspacesDeps
  private readonly folder: ConfinedFolder
  private readonly hooks: Hooks
  private files: Files
  private readonly changed = new Map<string, Uint8Array | null>()
  private isClosed = false

  constructor(deps: WorkspacesDeps, place: { readonly folder: ConfinedFolder; readonly files: Files }, hooks: Hooks) {
    this.deps = deps
    this.folder = place.folder
    this.files = place.files
    this.hooks = hooks
  }

  read(path: string): Promise<Uint8Array> {
    return this.folder.read(path, MAX_BYTES)
  }

  async write(path: string, bytes: Uint8Array): Promise<void> {
    this.requireRoom(path, bytes.length)
    await this.soil()
    await this.folder.write(path, bytes)
    this.changed.set(normal(path), bytes)
  }

  async remove(path: string): Promise<void> {
    await this.soil()
    await this.folder.remove(path)
    this.changed.set(normal(path), null)
  }

  list(): ReturnType<Workspace['list']> {
    return this.folder.list(MAX_FILES)
  }

  async commit(): Promise<readonly FileFact[]> {
    if (this.changed.size === 0) return []
    const facts = await Promise.all([...this.changed].map(([path, bytes]) => this.store(path, bytes)))
    const next = new Map(this.files)
    for (const fact of facts) {
      if (fact.hash === null) next.delete(fact.path)
      else next.set(fact.path, fact)
    }
    await this.hooks.settle(next)
    this.files = next
    this.changed.clear()
    return facts
  }

  close(): void {
    if (!this.isClosed) this.hooks.close()
    this.isClosed = true
  }

  private async store(path: string, bytes: Uint8Array | null): Promise<FileFact> {
    if (bytes === null) return { path, hash: null, bytes: 0, encoding: 'utf8' }
    const { text, encoding } = encoded(bytes)
    const hash = this.deps.digest(text)
    await this.deps.blobs.put(hash, text)
    return { path, hash, bytes: bytes.length, encoding }
  }

  private async soil(): Promise<void> {
    if (this.changed.size === 0) await this.hooks.soil()
  }

  private requireRoom(path: string, added: number): void {
    const sizes = new Map([...this.files.values()].map((file) => [file.path, file.bytes]))
    for (const [changed, bytes] of this.changed) sizes.set(changed, bytes?.length ?? 0)
    sizes.set(normal(path), added)
    const total = [...sizes.values()].reduce((sum, bytes) => sum + bytes, 0)
    if (sizes.size > MAX_FILES || total > MAX_BYTES)
      throw new TrihandError('WORKSPACE_QUOTA', `${sizes.size} files with ${total} bytes are more than allowed`)
  }
}

const normal = (path: string): string =>
  path
    .split('/')
    .filter((part) => part !== '.')
    .join('/')
