/** Files of agents on a real disk: no escape, no partial state, the same files on every machine. */
import { fork } from 'node:child_process'
import { linkSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { MemoryBlobs } from '#adapters/storage/memory/blobs.ts'
import type { FileFact } from '#model/agent/state.ts'
import { TrihandError } from '#model/kernel/errors.ts'
import { ConfinedFolder, partsOf } from './confined.ts'
import { FileWorkspaces } from './workspaces.ts'

let root = ''
let folder: ConfinedFolder
const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)
const text = (read: Uint8Array): string => new TextDecoder().decode(read)
const digest = (given: string): string => `h${Buffer.from(given).toString('base64url')}`

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'trihand-confined-'))
  mkdirSync(join(root, 'ws'))
  mkdirSync(join(root, 'ws-evil'))
  writeFileSync(join(root, 'secret'), 'outside')
  writeFileSync(join(root, 'ws-evil', 'a'), 'sibling')
  folder = new ConfinedFolder(join(root, 'ws'))
})
afterEach(() => rmSync(root, { recursive: true, force: true }))

const codeOf = async (work: () => Promise<unknown>): Promise<string> => {
  try {
    await work()
    return 'none'
  } catch (error) {
    return error instanceof TrihandError ? error.code : `raw ${String(error)}`
  }
}

describe('[B3][S11] confined-1: no path leads out of the folder', () => {
  test.each([
    '..',
    '../secret',
    'a/../../secret',
    '/etc/passwd',
    '../ws-evil/a',
    '',
    'a\0b',
    'a\\..\\b',
    'C:/x',
    'a//b',
    `${'a/'.repeat(40)}b`,
    'x'.repeat(300),
    '.trihand-1',
  ])('%j is refused for reading, writing and removing', async (path) => {
    expect(await codeOf(() => folder.read(path, 100))).toBe('PATH_ESCAPE')
    expect(await codeOf(() => folder.write(path, bytes('x')))).toBe('PATH_ESCAPE')
    expect(await codeOf(() => folder.remove(path))).toBe('PATH_ESCAPE')
    expect(readFileSync(join(root, 'secret'), 'utf8')).toBe('outside')
  })

  test('links are refused: to files, to folders, dangling and harmless ones', async () => {
    const at = (name: string): string => join(root, 'ws', name)
    writeFileSync(at('plain'), 'inside')
    symlinkSync(join(root, 'secret'), at('file'))
    symlinkSync(root, at('folder'))
    symlinkSync(join(root, 'nowhere'), at('dangling'))
    symlinkSync('plain', at('harmless'))
    for (const path of ['file', 'folder/secret', 'dangling', 'harmless', 'folder/new'])
      expect([path, await codeOf(() => folder.read(path, 100))]).toEqual([path, 'PATH_ESCAPE'])
    for (const path of ['file', 'folder/secret', 'dangling', 'harmless', 'folder/new'])
      expect([path, await codeOf(() => folder.write(path, bytes('x')))]).toEqual([path, 'PATH_ESCAPE'])
    expect(readFileSync(join(root, 'secret'), 'utf8')).toBe('outside')
    expect(await folder.list(10)).toEqual([{ path: 'plain', bytes: 6 }])
  })

  test('anything but a plain file is refused: folders, hard links, a file used as a folder', async () => {
    mkdirSync(join(root, 'ws', 'sub'))
    writeFileSync(join(root, 'ws', 'one'), 'x')
    linkSync(join(root, 'secret'), join(root, 'ws', 'hard'))
    for (const path of ['sub', 'hard', 'one/two'])
      expect([path, await codeOf(() => folder.read(path, 100))]).toEqual([path, 'FILE_NOT_REGULAR'])
    expect(await codeOf(() => folder.write('hard', bytes('x')))).toBe('FILE_NOT_REGULAR')
    expect(await codeOf(() => folder.read('missing', 100))).toBe('NOT_FOUND')
    expect(await codeOf(() => folder.read('one', 0))).toBe('WORKSPACE_QUOTA')
  })

  test('while another process swaps a folder and a link, no read returns a file outside', async () => {
    mkdirSync(join(root, 'out'))
    writeFileSync(join(root, 'out', 'a'), 'OUTSIDE')
    const code = `
      const fs = require('node:fs'), path = require('node:path')
      const at = ${JSON.stringify(join(root, 'ws', 'd'))}, out = ${JSON.stringify(join(root, 'out'))}
      const round = () => {
        fs.rmSync(at, { recursive: true, force: true }); fs.mkdirSync(at); fs.writeFileSync(path.join(at, 'a'), 'inside')
        fs.rmSync(at, { recursive: true, force: true }); fs.symlinkSync(out, at)
      }
      process.on('message', () => process.exit(0))
      process.on('disconnect', () => process.exit(0))
      const go = () => { for (let i = 0; i < 50; i++) round(); setImmediate(go) }
      go(); process.send('ready')`
    writeFileSync(join(root, 'swap.cjs'), code)
    const swapper = fork(join(root, 'swap.cjs'))
    await new Promise((resolve) => swapper.once('message', resolve))
    const seen = new Map<string, number>()
    for (let i = 0; i < 400; i++) {
      const what = await codeOf(async () => {
        const read = text(await folder.read('d/a', 100))
        if (read !== 'inside' && read !== '') throw new Error(read)
      })
      seen.set(what, (seen.get(what) ?? 0) + 1)
    }
    swapper.send('stop')
    await new Promise((resolve) => swapper.once('exit', resolve))
    for (const what of seen.keys()) expect(what).toMatch(/^(none|PATH_ESCAPE|NOT_FOUND|FILE_NOT_REGULAR)$/)
    expect([...seen.values()].reduce((sum, count) => sum + count, 0)).toBe(400)
  })

  test('any text is a path inside the folder or is refused', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom('.', '/', 'a', '\\', '\0', ':', ' ') }), (path) => {
        try {
          const parts = partsOf(path)
          expect(parts.every((part) => part !== '..' && part !== '' && !part.includes('/'))).toBe(true)
        } catch (error) {
          expect((error as TrihandError).code).toBe('PATH_ESCAPE')
        }
      }),
      { numRuns: 5_000 },
    )
  })
})

describe('workspaces', () => {
  const blobs = new MemoryBlobs()
  const workspaces = (name: string): FileWorkspaces => new FileWorkspaces({ root: join(root, name), blobs, digest })

  const made = async (key: string, files: Readonly<Record<string, string>>): Promise<readonly FileFact[]> => {
    const opened = await workspaces('one').open(key, [])
    for (const [path, content] of Object.entries(files)) await opened.write(path, bytes(content))
    const facts = await opened.commit()
    opened.close()
    return facts
  }

  test('[B3] workspaces-1: another machine has the same files, from blobs alone', async () => {
    const facts = await made('r1', { 'a.md': 'alpha', 'deep/b.md': 'beta' })
    const other = await workspaces('two').open('r1', facts)
    expect((await other.list()).map(({ path }) => path)).toEqual(['a.md', 'deep/b.md'])
    expect(text(await other.read('deep/b.md'))).toBe('beta')
  })

  test('uncommitted changes and unknown files are gone at the next opening', async () => {
    const facts = await made('r2', { 'a.md': 'alpha' })
    const machine = workspaces('one')
    const opened = await machine.open('r2', facts)
    await opened.write('a.md', bytes('half'))
    opened.close()
    writeFileSync(join(root, 'one', 'r2', 'stray'), 'x')
    const again = await machine.open('r2', facts)
    expect(text(await again.read('a.md'))).toBe('alpha')
    expect((await again.list()).length).toBe(1)
  })

  test('a removed file is recorded as removed, and binary files come back unchanged', async () => {
    const facts = await made('r3', { 'a.md': 'alpha' })
    const machine = workspaces('one')
    const opened = await machine.open('r3', facts)
    await opened.remove('a.md')
    await opened.write('b.bin', new Uint8Array([0, 255, 7]))
    const changed = await opened.commit()
    expect(changed).toMatchObject([
      { path: 'a.md', hash: null },
      { path: 'b.bin', bytes: 3, encoding: 'base64' },
    ])
    const other = await workspaces('two').open(
      'r3',
      changed.filter(({ hash }) => hash !== null),
    )
    expect([...(await other.read('b.bin'))]).toEqual([0, 255, 7])
  })

  test('a write above the quota is refused', async () => {
    const opened = await workspaces('one').open('r4', [])
    expect(await codeOf(() => opened.write('big', new Uint8Array(65 * 1024 * 1024)))).toBe('WORKSPACE_QUOTA')
    expect(await opened.list()).toEqual([])
  })

  test('workspaces-2: a key that is a path is refused', async () => {
    expect(await codeOf(async () => workspaces('one').open('../x', []))).toBe('PATH_ESCAPE')
  })
})
