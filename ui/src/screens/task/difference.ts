/**
 * The difference between two versions of an item: removed and added words for each field.
 *
 * Pure. Falls back to a comparison by line if the comparison by word takes too long.
 */
import { type Change, diffLines, diffWordsWithSpace } from 'diff'
import { isRecord, type Json } from '../../api/documents.ts'

export interface FieldChange {
  readonly path: string
  readonly parts: readonly Change[]
}

const TIMEOUT_MS = 300

const textOf = (value: Json | undefined): string => {
  if (value === undefined) return ''
  return typeof value === 'string' ? value : JSON.stringify(value, null, 2)
}

const partsOf = (before: string, after: string): readonly Change[] =>
  diffWordsWithSpace(before, after, { timeout: TIMEOUT_MS }) ?? diffLines(before, after)

export const changesOf = (before: Json | undefined, after: Json | undefined, path = ''): readonly FieldChange[] => {
  if (JSON.stringify(before) === JSON.stringify(after)) return []
  if (isRecord(before) && isRecord(after)) {
    const names = [...new Set([...Object.keys(before), ...Object.keys(after)])]
    return names.flatMap((name) => changesOf(before[name], after[name], path === '' ? name : `${path}.${name}`))
  }
  return [{ path, parts: partsOf(textOf(before), textOf(after)) }]
}
