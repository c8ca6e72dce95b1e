/**
 * Runs the machine's C compiler for the preloaded library, which cannot be written in TypeScript.
 *
 * Owns finding it, and the reason if there is none. Never installs anything.
 */
import { spawnSync } from 'node:child_process'

const candidates = (): readonly string[] => [
  ...(process.env['CC'] === undefined ? [] : [process.env['CC']]),
  'cc',
  'gcc',
  'clang',
]

/** Compiles a shared library for LD_PRELOAD. Returns null on success, else the reason of the failure. */
export const compileShared = (source: string, target: string): string | null => {
  if (process.platform !== 'linux') return `preloading needs Linux, this is ${process.platform}`
  for (const compiler of candidates()) {
    const { error, status, stderr } = spawnSync(
      compiler,
      ['-O1', '-shared', '-fPIC', '-o', target, source, '-ldl', '-lpthread'],
      { encoding: 'utf8' },
    )
    if (error !== undefined) continue
    return status === 0 ? null : `${compiler} could not compile the shim: ${stderr.slice(0, 500)}`
  }
  return 'no C compiler; install gcc or set CC'
}
