/**
 * Files and folders as a trigger: reports what was added, changed or removed, also while the process was down.
 *
 * Owns the watching and the comparison with the last seen state. A file is identified by path, size, time and hash; these are stored with the
 * event that reports them (source-1). A file that was only touched is stored and not reported. The first start of a source stores what is there
 * and reports nothing.
 *
 * file-1  A change is reported once, whether it happened while the process ran, while it was down, or around a crash.
 */
import { createHash } from 'node:crypto'
import { createReadStream, type Stats } from 'node:fs'
import { stat } from 'node:fs/promises'
import { relative, resolve, sep } from 'node:path'
import { type FSWatcher, watch } from 'chokidar'
import { type FileSource as Definition, WATCH_EVENTS } from '#manifest/define/sources.ts'
import { isPlainId } from '#model/event/event.ts'
import type { FileChange } from '#model/event/watch.ts'
import type { Json } from '#model/kernel/json.ts'
import type { DocumentWrite } from '#ports/ledger.ts'
import { baseOf, globMatcher } from './glob.ts'
import { retryUntilStored, type Source, type SourceDeps, SourceMemory, sendOccurrence } from './source.ts'

export interface FileDeps extends SourceDeps {
  /** Paths are relative to this folder. */
  readonly folder: string
}

/** The last seen state of a file. */
type Seen = { readonly size: number; readonly mtimeMs: number; readonly hash: string }

const SHARDS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
const BASELINE = 'baseline'
const NAME_DIGITS = 22

const hashOf = async (file: string): Promise<string> => {
  const hash = createHash('sha256')
  for await (const chunk of createReadStream(file)) hash.update(chunk as Buffer)
  return hash.digest('hex')
}

const isGone = (error: unknown): boolean => error instanceof Error && 'code' in error && error.code === 'ENOENT'

export class FileSource implements Source {
  readonly name: string
  readonly #definition: Definition
  readonly #deps: FileDeps
  readonly #memory: SourceMemory
  readonly #isMeant: (path: string) => boolean
  readonly #seen = new Map<string, Seen>()
  #watcher: FSWatcher | null = null
  #isOver = false
  /** Changes are processed one after the other: they write the same documents. */
  #last: Promise<void> = Promise.resolve()

  constructor(definition: Definition, deps: FileDeps) {
    this.name = definition.name
    this.#definition = definition
    this.#deps = deps
    this.#memory = new SourceMemory(deps, definition.name)
    this.#isMeant = globMatcher(definition.globs)
  }

  /** Settles once everything that changed while the source did not watch has been reported. */
  async start(): Promise<void> {
    if (this.#watcher !== null) return
    this.#isOver = false
    const isKnown = await this.#recall()
    const found = await this.#watchFiles()
    for (const path of new Set([...found, ...this.#seen.keys()])) {
      if (isKnown) this.#soon(path)
      else await this.#take(path)
    }
    if (!isKnown) await this.#deps.note(this.#baseline())
    await this.#last
  }

  async stop(): Promise<void> {
    const watcher = this.#watcher
    this.#watcher = null
    this.#isOver = true
    await watcher?.close()
    await this.#last
  }

  /** Starts watching, and returns the paths that are there at first. */
  async #watchFiles(): Promise<readonly string[]> {
    const { globs, settleMs } = this.#definition
    const { folder } = this.#deps
    const found: string[] = []
    let isReady = false
    const watcher = watch([...new Set(globs.map((glob) => resolve(folder, baseOf(glob))))], {
      awaitWriteFinish: { stabilityThreshold: settleMs, pollInterval: Math.min(100, Math.ceil(settleMs / 2)) },
      followSymlinks: false,
    })
    const hear = (file: string): void => {
      const path = [relative(folder, file).split(sep).join('/'), file].find(this.#isMeant)
      if (path === undefined) return
      if (isReady) this.#soon(path)
      else found.push(path)
    }
    watcher.on('add', hear).on('change', hear).on('unlink', hear)
    watcher.on('error', (error) => this.#deps.report(this.name, error))
    this.#watcher = watcher
    await new Promise<void>((ready) => watcher.once('ready', ready))
    isReady = true
    return found
  }

  #soon(path: string): void {
    const isOver = (): boolean => this.#isOver
    this.#last = this.#last.then(() => retryUntilStored(this.#deps, this.name, isOver, () => this.#compare(path)))
  }

  /** Compares the file as it is now with its last seen state. */
  async #compare(path: string): Promise<void> {
    const before = this.#seen.get(path) ?? null
    const now = await this.#look(path, before)
    if (now === 'unreadable' || (now === null && before === null)) return
    if (now !== null && before?.size === now.size && before.mtimeMs === now.mtimeMs) return
    const change: FileChange = now === null ? 'removed' : before === null ? 'added' : 'changed'
    this.#set(path, now)
    const note = this.#shard(path)
    if (now?.hash === before?.hash || !this.#definition.on.includes(change)) await this.#deps.note([note])
    else await this.#tell(path, change, (now ?? before) as Seen, note).catch((error) => this.#undo(path, before, error))
  }

  /** The change was not sent: the next try must find the same difference again. */
  #undo(path: string, before: Seen | null, error: unknown): never {
    this.#set(path, before)
    throw error
  }

  #set(path: string, seen: Seen | null): void {
    if (seen === null) this.#seen.delete(path)
    else this.#seen.set(path, seen)
  }

  async #tell(path: string, change: FileChange, seen: Seen, note: DocumentWrite): Promise<void> {
    const { ids } = this.#deps
    const { size, mtimeMs, hash } = seen
    const occurrence = {
      type: WATCH_EVENTS.file,
      id: `${ids.digest(path).slice(0, NAME_DIGITS)}-${change}-${mtimeMs}-${hash.slice(0, 16)}`,
      ...(isPlainId(path) ? { subject: path } : {}),
      data: { path, change, size, mtime_ms: mtimeMs, hash },
    }
    await sendOccurrence(this.#deps, this.name, occurrence, [note])
  }

  async #take(path: string): Promise<void> {
    const now = await this.#look(path, null)
    if (now !== 'unreadable') this.#set(path, now)
  }

  /** The hash is computed only if size or time have changed. A file that cannot be read is reported as an error and keeps its last seen state. */
  async #look(path: string, before: Seen | null): Promise<Seen | null | 'unreadable'> {
    const file = resolve(this.#deps.folder, path)
    try {
      const found: Stats = await stat(file)
      if (!found.isFile()) return null
      const { size, mtimeMs } = found
      if (before?.size === size && before.mtimeMs === mtimeMs) return before
      return { size, mtimeMs, hash: await hashOf(file) }
    } catch (error) {
      if (isGone(error)) return null
      this.#deps.report(this.name, error)
      return 'unreadable'
    }
  }

  // -- last seen state, in 64 documents by path -------------------------------------------------------------------------

  #shardOf(path: string): string {
    return this.#deps.ids.digest(path).slice(0, 1)
  }

  #shard(path: string): DocumentWrite {
    const shard = this.#shardOf(path)
    const own = [...this.#seen].filter(([other]) => this.#shardOf(other) === shard)
    return this.#memory.note(`files-${shard}`, Object.fromEntries(own) as Json)
  }

  #baseline(): readonly DocumentWrite[] {
    const firsts = new Map([...this.#seen.keys()].map((path) => [this.#shardOf(path), path]))
    return [...[...firsts.values()].map((path) => this.#shard(path)), this.#memory.note(BASELINE, true)]
  }

  /** False: this source was never started before. */
  async #recall(): Promise<boolean> {
    this.#seen.clear()
    const shards = await Promise.all([...SHARDS].map((shard) => this.#memory.recall(`files-${shard}`)))
    for (const shard of shards)
      for (const [path, seen] of Object.entries((shard ?? {}) as Record<string, Seen>)) this.#seen.set(path, seen)
    return (await this.#memory.recall(BASELINE)) === true
  }
}
