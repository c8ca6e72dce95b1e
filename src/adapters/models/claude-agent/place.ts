/**
 * The directory of one session on this machine: the agent's files, a private home, and a journal of the transcript.
 *
 * Owns what is on disk. The ledger is the truth: the journal only saves a process that was killed from requesting again what it had
 * already paid for. Files and journal are trusted together or not at all.
 */
import { mkdir, open, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Workspace } from '#ports/tool.ts'
import type { Entry } from './sdk.ts'
import { linesOf, parseLines } from './transcript.ts'

const PRIVATE = { recursive: true, mode: 0o700 } as const

const pathsUnder = async (folder: string, prefix = ''): Promise<readonly string[]> => {
  const found = await readdir(join(folder, prefix), { withFileTypes: true })
  const nested = await Promise.all(
    found.map((entry) => {
      const path = prefix === '' ? entry.name : `${prefix}/${entry.name}`
      if (entry.isDirectory()) return pathsUnder(folder, path)
      return entry.isFile() ? [path] : []
    }),
  )
  return nested.flat()
}

export class Place {
  private readonly root: string
  private readonly journal: string
  readonly files: string
  readonly home: string

  constructor(root: string, turn: number) {
    this.root = root
    this.files = join(root, 'files')
    this.home = join(root, 'home')
    this.journal = join(root, `journal-${turn}.jsonl`)
  }

  /** The journal of a lost attempt at the same turn. */
  async left(): Promise<readonly Entry[]> {
    return parseLines(await readFile(this.journal, 'utf8').catch(() => ''))
  }

  /** An empty home: a session that the home remembers could not begin again. */
  async makeHome(): Promise<void> {
    await rm(this.home, { recursive: true, force: true })
    await mkdir(join(this.home, 'tmp'), PRIVATE)
  }

  /** Writes the agent's files as the ledger knows them. */
  async lay(workspace: Workspace): Promise<void> {
    await rm(this.root, { recursive: true, force: true })
    await mkdir(this.files, PRIVATE)
    for (const { path } of await workspace.list()) {
      const target = join(this.files, path)
      await mkdir(dirname(target), PRIVATE)
      await writeFile(target, await workspace.read(path), { mode: 0o600 })
    }
  }

  /** Copies the session's changes into the workspace. Skips links and the like. */
  async gather(workspace: Workspace): Promise<void> {
    const before = new Set((await workspace.list()).map(({ path }) => path))
    for (const path of await pathsUnder(this.files)) {
      const bytes = await readFile(join(this.files, path))
      const isSame = before.delete(path) && bytes.equals(await workspace.read(path))
      if (!isSame) await workspace.write(path, bytes)
    }
    for (const path of before) await workspace.remove(path)
  }

  /** Appends to the journal; the lines are durable when it resolves. */
  async note(entries: readonly Entry[]): Promise<void> {
    const file = await open(this.journal, 'a', 0o600)
    try {
      await file.appendFile(linesOf(entries))
      await file.datasync()
    } finally {
      await file.close()
    }
  }
}
