/**
 * Compiles TypeScript into a folder, whole or not at all, and knows when nothing has changed.
 *
 * Owns the hash of the sources, kept in `<out>/.build`. A new result replaces the old one only when it is complete, so that
 * a process that reads the folder never meets half of one. Never checks style or tests.
 */
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, relative } from 'node:path'
import { fileURLToPath } from 'node:url'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const TSC = `${ROOT}node_modules/typescript/bin/tsc`
/** The lock is among them because it names the compiler. */
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
 * Sources import from other folders as `#model/…` (`imports` in package.json), which names the sources. What was compiled is found
 * beside itself: paths become relative, so that it runs from any folder and needs nothing of package.json.
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
 * Answers the exit code for the process. `--if-changed` on the command line skips a build that would change nothing. `finish` gets
 * the folder before it takes its place.
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
    // Somebody else was faster: what they built is the same, and may be in use already.
    if (isDone()) return 0
    rmSync(`${ROOT}${out}`, { recursive: true, force: true })
    renameSync(next, `${ROOT}${out}`)
    return 0
  } finally {
    rmSync(next, { recursive: true, force: true })
  }
}
