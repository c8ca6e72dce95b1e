/** Tables of the manifest, and conditions over their columns: promises that nothing enforces. */
import type { AddFinding, Path } from '#manifest/yaml/finding.ts'
import { field, handlersOf, type Manifest } from '#manifest/yaml/manifest.ts'
import { isRecord, recordsIn } from '#manifest/yaml/record.ts'

const VALUE = String.raw`(?:'[^']*'|"[^"]*"|[\w.:-]+|\{\{[^{}]*\}\})`
const COMPARISON = String.raw`(?:\w+\.)?\w+\s*(?:=|!=|<=|>=|<|>)\s*${VALUE}`
const MEMBERSHIP = String.raw`(?:\w+\.)?\w+\s+IN\s*\(\s*${VALUE}(?:\s*,\s*${VALUE})*\s*\)`
const PART = new RegExp(`^(?:${COMPARISON}|${MEMBERSHIP})$`, 'i')
const ENFORCED = /^\w+\s*=\s*:actor$/
const MAX_LENGTH = 1_000

const isCondition = (text: string): boolean =>
  text.length <= MAX_LENGTH && text.split(/\s+AND\s+/i).every((part) => PART.test(part.trim()))

const tellCondition = (text: unknown, path: Path, tell: AddFinding): void => {
  if (typeof text !== 'string' || isCondition(text)) return
  tell({ level: 'error', code: 'CONDITION_UNSUPPORTED', message: `"${text}" is not a condition over columns`, path })
}

const lintAccess = (manifest: Manifest, tell: AddFinding): void => {
  const database = manifest['database']
  if (!isRecord(database)) return
  for (const table of recordsIn(database['tables']))
    for (const [i, { condition }] of recordsIn(table['access']).entries()) {
      if (condition === undefined || ENFORCED.test(String(condition).trim())) continue
      const path = ['database', 'tables', String(table['name']), 'access', i, 'condition']
      const message = `"${String(condition)}" is not enforced`
      tell({ level: 'warning', code: 'LINT_ACCESS_NOT_ENFORCED', message, path })
    }
}

export const lintTables = (manifest: Manifest, tell: AddFinding): void => {
  lintAccess(manifest, tell)
  for (const { section, handler } of handlersOf(manifest)) {
    const base = [section, handler.name]
    for (const [i, write] of recordsIn(field(handler, 'persist')).entries())
      tellCondition(write['where'], [...base, 'persist', i, 'where'], tell)
    const contract = field(handler, 'contract')
    const into = isRecord(contract) ? contract['context_in'] : undefined
    for (const [i, rows] of recordsIn(isRecord(into) ? into['from_db'] : undefined).entries())
      tellCondition(rows['where'], [...base, 'contract', 'context_in', 'from_db', i, 'where'], tell)
    const input = field(handler, 'validate_input')
    if (!isRecord(input)) continue
    for (const write of recordsIn(field(handler, 'persist')))
      if (write['update'] !== undefined && write['where'] === undefined && input['exists'] === undefined) {
        const message = 'an update without where needs validate_input.exists, which selects its row'
        tell({ level: 'error', code: 'MANIFEST_INVALID', message, path: [...base, 'persist'] })
      }
  }
}
