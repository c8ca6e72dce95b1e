/**
 * A temporary tree under our lint settings, in which a test plants faults and sees which are found.
 *
 * Owns the folder and the call of the linter. Never looks at the real sources.
 */
import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const ROOT = fileURLToPath(new URL('../../../', import.meta.url))
const SETTINGS = ['biome.json', 'scripts/lint', 'package.json', 'tsconfig.json', '.gitignore']

/** The rules broken in each file, once per place: `noExplicitAny`, or `plugin` for one of our own. */
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
    return found
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
