/**
 * Compiles TypeScript into a folder, completely or not at all, and skips the work if nothing has changed.
 *
 * Owns the hash of the sources, kept in `<out>/.build`. Replaces the old result only when the new one is complete, so that a process never
 * reads a partial folder. Never checks style or tests.
 */
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, relative } from 'node:path'
import { fileURLToPath } from 'node:url'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const TSC = `${ROOT}node_modules/typescript/bin/tsc`
/** Includes the lock, because it names the compiler. */
const SETTINGS = ['tsconfig.json', 'package.json', 'package-lock.json']

const isSource = (name) => /\.(ts|tsx|css|html|js|svg)$/.test(name) && !/\.test\.tsx?$/.test(name)

const sourcesOf = (folder) =>
  existsSync(`${ROOT}${folder}`)
    ? readdirSync(`${ROOT}${folder}`, { recursive: true, encoding: 'utf8' })
        .filter(isSource)
        .map((name) => `${folder}/${name}`)
    : []

const hashOf = (config, folders) => {
  const hash = createHash('sha256')
  for (const path of [...SETTINGS, config, ...folders.flatMap(sourcesOf).sort()]) {
    hash
      .update(`${path}\n`)
      .update(readFileSync(`${ROOT}${path}`))
      .update('\n')
  }
  return hash.digest('hex')
}

const isFresh = (out, hash) => {
  const mark = `${ROOT}${out}/.build`
  return existsSync(mark) && readFileSync(mark, 'utf8') === hash
}

/**
 * Rewrites imports from other folders: sources write `#model/…` (`imports` in package.json), which names the sources. The compiled code
 * gets relative paths, so that it runs from any folder without package.json.
 */
const withRelativeImports = (folder) => {
  const sources = existsSync(`${folder}/src`) ? `${folder}/src` : folder
  for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) =>
    /\.[jt]s$/.test(name),
  )) {
    const path = `${folder}/${name}`
    const text = readFileSync(path, 'utf8')
    const next = text.replaceAll(/(['"])#([a-z]+\/[^'"\n]+)\.ts\1/g, (_, quote, module) => {
      const place = module.startsWith('test/') ? folder : sources
      const target = relative(dirname(path), `${place}/${module}`).replaceAll('\\', '/')
      return `${quote}${target.startsWith('.') ? target : `./${target}`}${name.endsWith('.d.ts') ? '.ts' : '.js'}${quote}`
    })
    if (next !== text) writeFileSync(path, next)
  }
}

/**
 * Returns the exit code. `--if-changed` on the command line skips a build that would change nothing. `finish` gets the folder before it
 * replaces the old one.
 */
export const compile = async ({ config, out, folders, finish }) => {
  const hash = hashOf(config, folders)
  const isDone = () => process.argv.includes('--if-changed') && isFresh(out, hash)
  if (isDone()) return 0
  const next = `${ROOT}node_modules/.cache/trihand-build-${process.pid}`
  mkdirSync(next, { recursive: true })
  try {
    const { status } = spawnSync(process.execPath, [TSC, '-p', config, '--outDir', next], {
      cwd: ROOT,
      stdio: 'inherit',
    })
    if (status !== 0) return status ?? 1
    withRelativeImports(next)
    await finish(next)
    writeFileSync(`${next}/.build`, hash)
    // Another process was faster: its result is the same, and may be in use already.
    if (isDone()) return 0
    rmSync(`${ROOT}${out}`, { recursive: true, force: true })
    renameSync(next, `${ROOT}${out}`)
    return 0
  } finally {
    rmSync(next, { recursive: true, force: true })
  }
}
