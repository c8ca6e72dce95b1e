/**
 * The package as npm packs it, in an empty folder, with its dependencies and none of this repository's tools.
 *
 * Owns that folder. Downloads nothing: links each production package of the lock from here.
 */
import { spawnSync } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { PROJECT, temporaryFolder } from '#test/support/places.ts'
import { buildCommand } from '#test/support/serving/command.ts'

interface LockedPackage {
  readonly dev?: boolean
  readonly optional?: boolean
  readonly peer?: boolean
}

export interface Packed {
  readonly path: string
  write(name: string, text: string): void
  /** Runs a node program in that folder, or below it, with a separate environment. */
  run(
    args: readonly string[],
    env?: Readonly<Record<string, string>>,
    cwd?: string,
  ): {
    readonly status: number | null
    readonly text: string
  }
  remove(): void
}

const must = (program: string, args: readonly string[], cwd: string): string => {
  const { status, stdout, stderr } = spawnSync(program, args, { cwd, encoding: 'utf8' })
  if (status !== 0) throw new Error(`${program} ${args.join(' ')} ended with ${status}: ${stderr}`)
  return stdout
}

/** The first level of an installation without development tools. */
const productionPackages = (): readonly string[] => {
  const lock = JSON.parse(readFileSync(join(PROJECT, 'package-lock.json'), 'utf8')) as {
    readonly packages: Readonly<Record<string, LockedPackage>>
  }
  const installed = new Set(
    readdirSync(join(PROJECT, 'node_modules')).flatMap((name) =>
      name.startsWith('@') ? readdirSync(join(PROJECT, 'node_modules', name)).map((part) => `${name}/${part}`) : [name],
    ),
  )
  return Object.entries(lock.packages).flatMap(([path, { dev = false, peer = false }]) => {
    const [, name = ''] = /^node_modules\/((?:@[^/]+\/)?[^/]+)$/.exec(path) ?? []
    return name !== '' && !dev && !peer && installed.has(name) ? [name] : []
  })
}

export const installPacked = (): Packed => {
  buildCommand()
  const { path, remove } = temporaryFolder('packed')
  const modules = join(path, 'node_modules')
  mkdirSync(join(modules, 'trihand'), { recursive: true })
  must('npm', ['pack', '--ignore-scripts', '--silent', '--pack-destination', path], PROJECT)
  const tarball = readdirSync(path).find((name) => name.endsWith('.tgz')) ?? ''
  must('tar', ['-xzf', join(path, tarball), '-C', join(modules, 'trihand'), '--strip-components=1'], path)
  for (const name of productionPackages()) {
    mkdirSync(dirname(join(modules, name)), { recursive: true })
    symlinkSync(join(PROJECT, 'node_modules', name), join(modules, name), 'junction')
  }
  const write = (name: string, text: string): void => {
    mkdirSync(dirname(join(path, name)), { recursive: true })
    writeFileSync(join(path, name), text)
  }
  write('package.json', '{"name":"of-a-user","private":true,"type":"module"}')
  return {
    ...{ path, write, remove },
    run: (args, env = {}, cwd = path) => {
      const { status, stdout, stderr } = spawnSync(process.execPath, args, {
        ...{ cwd, encoding: 'utf8', timeout: 50_000 },
        env: { PATH: process.env['PATH'], ...env },
      })
      return { status, text: stdout + stderr }
    },
  }
}
