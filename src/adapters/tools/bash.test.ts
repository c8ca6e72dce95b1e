/** The tool Bash without the peer, and how files get into and out of a shell. The peer is not among our packages, so a fake replaces it. */
import { expect, test } from 'vitest'
import { TrihandError } from '#model/kernel/errors.ts'
import type { Json } from '#model/kernel/json.ts'
import type { Workspace } from '#ports/tool.ts'
import { bashTool, type Shell, type ShellPackage } from './bash.ts'

const bytes = (text: string): Uint8Array => Buffer.from(text)

const memory = (
  files: Record<string, string>,
): Workspace & { readonly log: string[]; readonly files: Map<string, string> } => {
  const held = new Map(Object.entries(files))
  const log: string[] = []
  return {
    log,
    files: held,
    list: async () => [...held].map(([path, text]) => ({ path, bytes: text.length })),
    read: async (path) => bytes(held.get(path) ?? ''),
    write: async (path, content) => {
      log.push(`write ${path}`)
      held.set(path, Buffer.from(content).toString())
    },
    remove: async (path) => {
      log.push(`remove ${path}`)
      held.delete(path)
    },
  }
}

/** Supports `set <path> <text>`, `rm <path>` and `fail`. */
const shellByHand: ShellPackage = {
  Bash: class implements Shell {
    private readonly held: Map<string, Uint8Array>
    readonly fs: Shell['fs']

    constructor({ files }: { readonly files: Readonly<Record<string, Uint8Array>> }) {
      this.held = new Map(Object.entries(files))
      this.fs = {
        getAllPaths: () => ['/', '/bin', '/bin/ls', '/workspace', '/workspace/dir', ...this.held.keys()],
        stat: async (path) => ({ isFile: this.held.has(path) }),
        readFileBuffer: async (path) => this.held.get(path) ?? bytes(''),
      }
    }

    async exec(command: string) {
      const [verb, path = '', text = ''] = command.split(' ')
      if (verb === 'set') this.held.set(path, bytes(text))
      if (verb === 'rm') this.held.delete(path)
      return { stdout: `did ${verb}`, stderr: '', exitCode: verb === 'fail' ? 1 : 0 }
    }
  },
}

const run = async (workspace: Workspace, input: Json, signal = new AbortController().signal): Promise<Json> =>
  bashTool(async () => shellByHand).run(input, {
    effectKey: 'k',
    signal,
    workspace,
    fetch: () => Promise.reject(new Error('no network here')),
  })

test('without the peer the error says how to install it', async () => {
  const call = async (): Promise<Json> =>
    bashTool().run(
      { command: 'ls' },
      {
        effectKey: 'k',
        signal: new AbortController().signal,
        workspace: memory({}),
        fetch: () => Promise.reject(new Error()),
      },
    )
  await expect(call()).rejects.toMatchObject({
    code: 'PEER_MISSING',
    detail: expect.stringContaining('npm install just-bash'),
  })
})

test('only files that the shell changed are written back', async () => {
  const workspace = memory({ 'a.md': 'a', 'dir/b.md': 'b' })
  expect(await run(workspace, { command: 'set /workspace/dir/b.md new' })).toEqual({
    stdout: 'did set',
    stderr: '',
    exit_code: 0,
  })
  expect(workspace.log).toEqual(['write dir/b.md'])
  expect(Object.fromEntries(workspace.files)).toEqual({ 'a.md': 'a', 'dir/b.md': 'new' })
})

test('a file that was deleted is removed, and a new one is written', async () => {
  const workspace = memory({ 'a.md': 'a' })
  await run(workspace, { command: 'rm /workspace/a.md' })
  await run(workspace, { command: 'set /workspace/c.md c' })
  expect(workspace.log).toEqual(['remove a.md', 'write c.md'])
})

test('files outside of the workspace stay in the shell', async () => {
  const workspace = memory({})
  await run(workspace, { command: 'set /tmp/x y' })
  await run(workspace, { command: 'set /workspace-evil/x y' })
  expect(workspace.log).toEqual([])
})

test('a command that fails is a result, not an error', async () => {
  expect(await run(memory({}), { command: 'fail' })).toMatchObject({ exit_code: 1 })
})

test('an aborted shell changes no files', async () => {
  const workspace = memory({})
  await expect(
    run(workspace, { command: 'set /workspace/a b' }, AbortSignal.abort(new Error('enough'))),
  ).rejects.toThrow('enough')
  expect(workspace.log).toEqual([])
})

test.each<Json>([null, {}, { command: 1 }])('the input %j is refused', async (input) => {
  await expect(run(memory({}), input)).rejects.toBeInstanceOf(TrihandError)
})
