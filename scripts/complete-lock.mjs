/**
 * Completes package-lock.json and removes registry hosts from it: `node scripts/complete-lock.mjs`, or `--check` to change nothing.
 *
 * A registry that lacks some platform packages leaves their entries out of the lock, and `npm ci` then fails on every platform. Adds each
 * missing optional entry with the platform in its name. Never guesses a version that is not pinned exactly.
 */
import { readFileSync, writeFileSync } from 'node:fs'

const LOCK = new URL('../package-lock.json', import.meta.url)
const SYSTEMS = new Set([
  'aix',
  'android',
  'darwin',
  'freebsd',
  'linux',
  'netbsd',
  'openbsd',
  'openharmony',
  'sunos',
  'win32',
])
const CPUS = new Set(['arm', 'arm64', 'ia32', 'loong64', 'ppc64', 'riscv64', 's390x', 'wasm32', 'x64'])
const LIBCS = new Map([
  ['gnu', 'glibc'],
  ['musl', 'musl'],
])
const EXACT = /^\d+\.\d+\.\d+(-[\w.]+)?$/

/** The path where Node would find `name` from the package at `path`: its own node_modules, then each one above. */
const isLocked = (packages, path, name) => {
  for (let base = path; ; base = base.slice(0, Math.max(0, base.lastIndexOf('node_modules/') - 1))) {
    if (packages[`${base === '' ? '' : `${base}/`}node_modules/${name}`] !== undefined) return true
    if (base === '') return false
  }
}

const missingEntries = (packages) =>
  Object.entries(packages).flatMap(([path, entry]) =>
    Object.entries(entry.optionalDependencies ?? {})
      .filter(([name]) => !isLocked(packages, path, name))
      .map(([name, version]) => ({ name, version, dev: entry.dev === true })),
  )

const platformOf = (name) => {
  const words = name.slice(name.lastIndexOf('/') + 1).split('-')
  const cpu = words.filter((word) => CPUS.has(word))
  const os = words.filter((word) => SYSTEMS.has(word))
  const libc = words.flatMap((word) => LIBCS.get(word) ?? [])
  if (cpu.length !== 1) throw new Error(`the name ${name} does not tell its platform: add its entry by hand`)
  return { cpu, libc, os }
}

const entryFor = ({ name, version, dev }) => {
  if (!EXACT.test(version)) throw new Error(`${name} is wanted as ${version}: only an exact version can be added`)
  const { cpu, libc, os } = platformOf(name)
  // The keys keep npm's order, so that npm's next write changes nothing.
  const entry = { version, cpu, dev, libc, optional: true, os }
  const isSaid = ([, value]) => value !== false && value.length !== 0
  return [`node_modules/${name}`, Object.fromEntries(Object.entries(entry).filter(isSaid))]
}

const withoutHosts = ({ resolved, ...entry }) =>
  resolved?.startsWith('http') ? entry : { ...entry, ...(resolved && { resolved }) }

const complete = (lock) => {
  const added = missingEntries(lock.packages).map(entryFor)
  const packages = [...Object.entries(lock.packages).map(([path, entry]) => [path, withoutHosts(entry)]), ...added]
  packages.sort(([a], [b]) => a.localeCompare(b, 'en'))
  return { ...lock, packages: Object.fromEntries(packages) }
}

const before = readFileSync(LOCK, 'utf8')
const lock = JSON.parse(before)
const after = `${JSON.stringify(complete(lock), null, 2)}\n`
const missing = missingEntries(lock.packages).map((entry) => entry.name)

if (process.argv.includes('--check')) {
  if (before !== after) {
    console.error(
      `package-lock.json is not complete, names a host or is not in order. Missing: ${missing.join(', ') || 'none'}`,
    )
    console.error('Run: node scripts/complete-lock.mjs')
    process.exitCode = 1
  }
} else {
  writeFileSync(LOCK, after)
  console.log(`${missing.length} entries added`)
}
