/**
 * The tool Bash: a simulated shell over a copy of the workspace. It has no programs of this machine, no network and no files outside.
 *
 * Owns the copy in, the copy back, and the limits. The shell is the optional peer `just-bash`; without it the error says how to install it.
 */
import { loadPeer } from '#adapters/peer.ts'
import { TrihandError } from '#model/kernel/errors.ts'
import type { Json } from '#model/kernel/json.ts'
import type { Tool, Workspace } from '#ports/tool.ts'

/** The part of the peer that we call. */
export interface ShellPackage {
  readonly Bash: new (options: {
    readonly files: Readonly<Record<string, Uint8Array>>
    readonly cwd: string
    readonly executionLimits: { readonly maxCommandCount: number; readonly maxLoopIterations: number }
  }) => Shell
}

export interface Shell {
  exec(
    command: string,
    options: { readonly signal: AbortSignal },
  ): Promise<{ readonly stdout: string; readonly stderr: string; readonly exitCode: number }>
  readonly fs: {
    getAllPaths(): readonly string[]
    stat(path: string): Promise<{ readonly isFile: boolean }>
    readFileBuffer(path: string): Promise<Uint8Array>
  }
}

const PEER: string = 'just-bash'
const HOME = '/workspace'
const MAX_COMMANDS = 100_000
const TIMEOUT_MS = 10_000

type Files = ReadonlyMap<string, Uint8Array>

const filesOf = async (workspace: Workspace): Promise<Files> => {
  const files = new Map<string, Uint8Array>()
  for (const { path } of await workspace.list()) files.set(path, await workspace.read(path))
  return files
}

const filesIn = async ({ fs }: Shell): Promise<Files> => {
  const files = new Map<string, Uint8Array>()
  for (const path of fs.getAllPaths()) {
    if (!path.startsWith(`${HOME}/`) || !(await fs.stat(path)).isFile) continue
    files.set(path.slice(HOME.length + 1), await fs.readFileBuffer(path))
  }
  return files
}

const isSame = (a: Uint8Array | undefined, b: Uint8Array): boolean => a !== undefined && Buffer.from(a).equals(b)

/** Writes back only what changed: the workspace records each change. */
const bringBack = async (workspace: Workspace, before: Files, after: Files): Promise<void> => {
  for (const [path, bytes] of after) if (!isSame(before.get(path), bytes)) await workspace.write(path, bytes)
  for (const path of before.keys()) if (!after.has(path)) await workspace.remove(path)
}

const commandOf = (input: Json): string => {
  const command =
    typeof input === 'object' && input !== null ? (input as { readonly [key: string]: Json })['command'] : null
  if (typeof command === 'string') return command
  throw new TrihandError('INPUT_INVALID', 'Bash takes {"command": "…"}')
}

export const bashTool = (load: () => Promise<ShellPackage> = () => import(PEER)): Tool => ({
  name: 'Bash',
  description: `Runs a command in a simulated bash over the workspace, which is ${HOME}. There are no host programs and there is no network.`,
  input: {
    type: 'object',
    properties: { command: { type: 'string', maxLength: 100_000 } },
    required: ['command'],
    additionalProperties: false,
  },
  effect: 'idempotent',
  timeoutMs: TIMEOUT_MS,
  run: async (input, { workspace, signal }) => {
    const command = commandOf(input)
    const { Bash } = await loadPeer(PEER, load)
    const before = await filesOf(workspace)
    const shell = new Bash({
      files: Object.fromEntries([...before].map(([path, bytes]) => [`${HOME}/${path}`, bytes])),
      cwd: HOME,
      executionLimits: { maxCommandCount: MAX_COMMANDS, maxLoopIterations: MAX_COMMANDS },
    })
    const { stdout, stderr, exitCode } = await shell.exec(command, { signal })
    // An aborted shell may be in the middle of its work: none of its changes count.
    signal.throwIfAborted()
    await bringBack(workspace, before, await filesIn(shell))
    return { stdout, stderr, exit_code: exitCode }
  },
})
