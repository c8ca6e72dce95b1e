/**
 * A temporary tree under our lint settings, in which a test plants faults and sees which are found.
 *
 * Owns the folder and the call of the linter. Never reads the real sources.
 */
import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'

const ROOT = fileURLToPath(new URL('../../../', import.meta.url))
const SETTINGS = ['biome.json', 'scripts/lint', 'package.json', 'tsconfig.json', '.gitignore']

interface Source {
  readonly path: string
  readonly text: string
}
const { cyclesIn, importFaults, importGraph } = (await import(
  pathToFileURL(join(ROOT, 'scripts/lib/rooms.mjs')).href
)) as {
  readonly importFaults: (files: readonly Source[]) => readonly { readonly path: string }[]
  readonly importGraph: (files: readonly Source[]) => ReadonlyMap<string, readonly string[]>
  readonly cyclesIn: (graph: ReadonlyMap<string, readonly string[]>) => readonly (readonly string[])[]
}

/** The rules broken in each file, once per place: `noExplicitAny`, `plugin` for one of our own, `rooms` and `cycle` for imports. */
export type Findings = ReadonlyMap<string, readonly string[]>

interface Diagnostic {
  readonly category: string
  readonly location: { readonly path: string }
}

const lint = (folder: string): readonly Diagnostic[] => {
  const biome = join(ROOT, 'node_modules/@biomejs/biome/bin/biome')
  const { stdout, stderr } = spawnSync(process.execPath, [biome, 'lint', '--reporter=json', '--max-diagnostics=none'], {
    cwd: folder,
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
  })
  if (!stdout.startsWith('{')) throw new Error(`the linter gave no report: ${stdout}${stderr}`)
  return (JSON.parse(stdout) as { readonly diagnostics: readonly Diagnostic[] }).diagnostics
}

export const findFaults = (files: ReadonlyMap<string, string>): Findings => {
  const folder = mkdtempSync(join(tmpdir(), 'trihand-house-'))
  try {
    for (const path of SETTINGS) cpSync(join(ROOT, path), join(folder, path), { recursive: true })
    for (const [path, text] of files) {
      mkdirSync(dirname(join(folder, path)), { recursive: true })
      writeFileSync(join(folder, path), text)
    }
    const found = new Map<string, string[]>([...files.keys()].map((path) => [path, []]))
    for (const { category, location } of lint(folder)) found.get(location.path)?.push(category.replace(/^.*\//, ''))
    const sources = [...files].map(([path, text]) => ({ path, text })).filter(({ path }) => /^(ui\/)?src\//.test(path))
    for (const { path } of importFaults(sources)) found.get(path)?.push('rooms')
    for (const path of cyclesIn(importGraph(sources)).flat()) found.get(path)?.push('cycle')
    return found
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
