/** References to environment variables that are not set, and secrets in plain text. */
import type { AddFinding, Path } from '#manifest/yaml/finding.ts'
import type { Manifest } from '#manifest/yaml/manifest.ts'

const REFERENCE = /\$\$\{|\$\{([A-Za-z_][A-Za-z0-9_]*)(:-[^}]*)?\}/g
const SECRET_KEY = /(^|_)(secret|token|password|passwd|api_key|apikey|private_key|signing_key|credential)s?$/i
const PLACES = ['integrations', 'webhooks', 'endpoints', 'infrastructure', 'agents'] as const

type Visit = (text: string, path: Path) => void

const eachText = (value: unknown, path: Path, visit: Visit): void => {
  if (typeof value === 'string') return visit(value, path)
  if (typeof value !== 'object' || value === null) return
  for (const [key, item] of Object.entries(value)) {
    const name = Array.isArray(value) && typeof item === 'object' ? item?.name : undefined
    eachText(item, [...path, typeof name === 'string' ? name : Array.isArray(value) ? Number(key) : key], visit)
  }
}

const keyOf = (path: Path): string => String(path.filter((part) => typeof part === 'string').at(-1) ?? '')

/** `known`: names that are set; null: not known. */
export const lintEnvironment = (manifest: Manifest, known: ReadonlySet<string> | null, tell: AddFinding): void => {
  const told = new Set<string>()
  eachText(manifest, [], (text, path) => {
    for (const [, name, fallback] of text.matchAll(REFERENCE)) {
      if (name === undefined || fallback !== undefined || known === null || known.has(name) || told.has(name)) continue
      told.add(name)
      tell({ level: 'warning', code: 'LINT_ENV_MISSING', message: `${name} is not set`, path })
    }
  })
  for (const section of PLACES)
    eachText(manifest[section], [section], (text, path) => {
      if (!SECRET_KEY.test(keyOf(path)) || text === '' || text.includes('${')) return
      tell({ level: 'warning', code: 'LINT_SECRET_LITERAL', message: `${keyOf(path)} contains a plain secret`, path })
    })
}
