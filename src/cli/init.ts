/**
 * `trihand init [folder] --template <name>`: creates a new system from the examples of the package.
 *
 * Owns which files are written where. Never overwrites a file that differs, and checks for existing files before it writes the first one.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { basename, dirname, join, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { EXIT, visible } from '#cli/terminal/output.ts'
import type { Verb } from '#cli/terminal/shell.ts'
import { TrihandError } from '#model/kernel/errors.ts'
import { nearest } from '#model/kernel/nearest.ts'
import { VERSION } from './version.ts'

export interface InitFlags {
  readonly folder?: string
  readonly template?: string
  readonly force?: boolean
}

const TEMPLATES = fileURLToPath(new URL('../../examples/', import.meta.url))
const DEFAULT_TEMPLATE = 'campaign'

type Files = ReadonlyMap<string, string>

const names = (): readonly string[] =>
  readdirSync(TEMPLATES, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name)

const templateFolder = (name: string): string => {
  const all = names()
  if (all.includes(name)) return join(TEMPLATES, name)
  const guess = nearest(name, all)
  const meant = guess === null ? '' : `did you mean ${guess}? `
  throw new TrihandError('CONFIG_INVALID', `there is no template ${name}; ${meant}templates: ${all.join(', ')}`)
}

const filesOf = (folder: string): Files => {
  const found = readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((path) => join(folder, path))
  const files = found.filter((path) => statSync(path).isFile() && !path.includes('.trihand'))
  return new Map(files.map((path) => [relative(folder, path), readFileSync(path, 'utf8')]))
}

const readme = (name: string): string => `# ${name}

\`\`\`
npm install
npx trihand dev          # runs the system, with the web page
npx trihand doctor       # checks this machine and this folder
\`\`\`

\`npx trihand manifest validate\` finds errors before it runs, \`npx trihand simulate\` runs it with generated data, \`npx trihand send <event>\` sends an event.
`

const aroundIt = (name: string): Files =>
  new Map([
    [
      'package.json',
      `${JSON.stringify({ name, private: true, type: 'module', scripts: { dev: 'trihand dev' }, dependencies: { trihand: `~${VERSION}` } }, null, 2)}\n`,
    ],
    ['.gitignore', 'node_modules/\n.trihand/\n.env\n'],
    [
      '.env.example',
      '# Copy to .env. Without a key agents answer from scripts: simulated.\n# ANTHROPIC_API_KEY=\n# DATABASE_URL=postgres://localhost/trihand\n',
    ],
    ['README.md', readme(name)],
  ])

/** A valid npm package name for the folder. */
const packageName = (folder: string): string =>
  basename(folder)
    .toLowerCase()
    .replaceAll(/[^a-z0-9._-]+/g, '-')
    .replace(/^[._-]+/, '') || 'my-system'

const differing = (target: string, files: Files): readonly string[] =>
  [...files].flatMap(([path, text]) => {
    const file = join(target, path)
    return existsSync(file) && readFileSync(file, 'utf8') !== text ? [path] : []
  })

const inTheWay = (target: string): readonly string[] => {
  if (!existsSync(target)) return []
  if (!statSync(target).isDirectory())
    throw new TrihandError('CONFIG_INVALID', `${target} is a file; name a folder, new or empty`)
  return readdirSync(target).filter((name) => name !== '.git')
}

const refuse = (target: string, found: readonly string[]): never => {
  const shown = found.slice(0, 5).join(', ')
  const more = found.length > 5 ? ` and ${found.length - 5} more` : ''
  throw new TrihandError('CONFIG_INVALID', `${target} is not empty: ${shown}${more}; --force adds the missing files`)
}

const write = (target: string, files: Files): readonly string[] => {
  const kept = new Set(differing(target, files))
  const written = [...files].filter(([path]) => !kept.has(path) && !existsSync(join(target, path)))
  for (const [path, text] of written) {
    mkdirSync(dirname(join(target, path)), { recursive: true })
    writeFileSync(join(target, path), text)
  }
  return written.map(([path]) => path)
}

export const init: Verb<InitFlags> = async (
  { output },
  { folder = '.', template = DEFAULT_TEMPLATE, force = false },
) => {
  const target = resolve(folder)
  const source = templateFolder(template)
  const found = inTheWay(target)
  if (found.length > 0 && !force) refuse(target, found)
  const files = new Map([...aroundIt(packageName(target)), ...filesOf(source)])
  const kept = differing(target, files)
  const written = write(target, files)
  if (output.isJson) output.document({ folder: target, template, written, kept })
  else {
    for (const path of written) output.line(visible(path))
    for (const path of kept) output.talk(visible(`kept ${path}: it exists and differs from the template`))
    const enter = folder === '.' ? '' : `cd ${visible(folder)} && `
    output.talk(`next: ${enter}npm install && npx trihand dev`)
  }
  return EXIT.done
}
