/**
 * The tools with which an agent works on its files: Read, Write, Edit, Glob, Grep.
 *
 * Owns their limits and output. They reach files only through the workspace that they are given.
 */
import { RE2JS } from 're2js'
import { TrihandError } from '#model/kernel/errors.ts'
import type { Json } from '#model/kernel/json.ts'
import type { Tool, Workspace } from '#ports/tool.ts'

/*
 * Patterns that a model writes: globs and expressions, all matched in linear time.
 * Owns the translation of globs. A model's pattern never becomes a JS regular expression: some of those would not return.
 */

const MAX_PATTERN = 1_000
const SPECIAL = /[.+^$()|[\]{}\\]/g

const refused = (pattern: string, why: string): TrihandError =>
  new TrihandError('TOOL_INPUT_INVALID', `the pattern ${JSON.stringify(pattern.slice(0, 80))} ${why}`)

export const compilePattern = (pattern: string, flags = 0): RE2JS => {
  if (pattern === '' || pattern.length > MAX_PATTERN) throw refused(pattern, `must have 1 to ${MAX_PATTERN} characters`)
  try {
    return RE2JS.compile(pattern, flags)
  } catch (error) {
    throw refused(pattern, error instanceof Error ? error.message : 'cannot be read')
  }
}

/** One token of a glob at this index as an expression, and its length. `**` crosses folders, `*` and `?` do not. */
const pieceAt = (glob: string, at: number): readonly [string, number] => {
  if (glob.startsWith('**/', at)) return ['(?:[^/]+/)*', 3]
  if (glob.startsWith('**', at)) return ['.*', 2]
  const character = glob[at] ?? ''
  if (character === '*') return ['[^/]*', 1]
  if (character === '?') return ['[^/]', 1]
  if (character !== '{') return [character.replace(SPECIAL, '\\$&'), 1]
  const end = glob.indexOf('}', at)
  if (end < 0) return ['\\{', 1]
  const choices = glob.slice(at + 1, end).split(',')
  return [
    `(?:${choices.map((choice) => choice.replace(SPECIAL, '\\$&').replaceAll('*', '[^/]*')).join('|')})`,
    end - at + 1,
  ]
}

export const compileGlob = (glob: string): ((path: string) => boolean) => {
  if (glob.length > MAX_PATTERN) throw refused(glob, 'is too long')
  let text = ''
  for (let at = 0; at < glob.length; ) {
    const [piece, length] = pieceAt(glob, at)
    text += piece
    at += length
  }
  const compiled = compilePattern(`^${text}$`)
  return (path) => compiled.matcher(path).find()
}

const MAX_READ = 256 * 1024
const MAX_WRITE = 1024 * 1024
const MAX_LINES = 2_000
const MAX_LINE = 2_000
const MAX_HITS = 200
const MAX_CONTEXT = 10

type Input = { readonly [key: string]: Json }

const text = (input: Json, key: string): string => String((input as Input)[key] ?? '')
const count = (input: Json, key: string, fallback: number): number => {
  const value = (input as Input)[key]
  return typeof value === 'number' ? value : fallback
}

const object = (properties: { readonly [key: string]: Json }, ...required: readonly string[]): Json => ({
  type: 'object',
  properties,
  required,
  additionalProperties: false,
})
const STRING: Json = { type: 'string' }
const POSITIVE: Json = { type: 'integer', minimum: 1 }

const readText = async (workspace: Workspace, path: string): Promise<string> => {
  const bytes = await workspace.read(path)
  if (bytes.subarray(0, MAX_READ).includes(0)) throw new TrihandError('FILE_BINARY', `${path} is not text`)
  return new TextDecoder().decode(bytes)
}

const shortened = (line: string): string => (line.length > MAX_LINE ? `${line.slice(0, MAX_LINE)} [cut]` : line)

const read: Tool = {
  name: 'Read',
  description: 'Reads a text file of the workspace, with numbered lines.',
  input: object({ file_path: STRING, offset: POSITIVE, limit: POSITIVE }, 'file_path'),
  effect: 'none',
  maxOutputChars: MAX_READ + MAX_LINES * 10,
  async run(input, { workspace }) {
    const content = (await readText(workspace, text(input, 'file_path'))).slice(0, MAX_READ)
    const lines = content.split('\n')
    const from = count(input, 'offset', 1) - 1
    const shown = lines.slice(from, from + Math.min(MAX_LINES, count(input, 'limit', MAX_LINES)))
    const numbered = shown.map((line, index) => `${from + index + 1}\t${shortened(line)}`).join('\n')
    const rest = lines.length - from - shown.length
    return rest > 0 ? `${numbered}\n[${rest} more lines]` : numbered
  },
}

const bytesOf = (path: string, content: string): Uint8Array => {
  const bytes = new TextEncoder().encode(content)
  if (bytes.length > MAX_WRITE) throw new TrihandError('WORKSPACE_QUOTA', `${path} would have ${bytes.length} bytes`)
  return bytes
}

const write: Tool = {
  name: 'Write',
  description: 'Writes a text file of the workspace, whole.',
  input: object({ file_path: STRING, content: STRING }, 'file_path', 'content'),
  effect: 'idempotent',
  async run(input, { workspace }) {
    const path = text(input, 'file_path')
    const bytes = bytesOf(path, text(input, 'content'))
    await workspace.write(path, bytes)
    return `wrote ${bytes.length} bytes to ${path}`
  },
}

/** By splitting, not by replace(): `$&` in the new text is plain text. */
const edited = (content: string, before: string, after: string, all: boolean, path: string): string => {
  const found = before === '' ? 0 : content.split(before).length - 1
  if (found === 0) throw new TrihandError('EDIT_NO_MATCH', `${path} does not contain the text`)
  if (found > 1 && !all) throw new TrihandError('EDIT_AMBIGUOUS', `${path} contains the text ${found} times`)
  return content.split(before).join(after)
}

const edit: Tool = {
  name: 'Edit',
  description: 'Replaces a text that occurs once in a file of the workspace, or every time with replace_all.',
  input: object(
    { file_path: STRING, old_string: STRING, new_string: STRING, replace_all: { type: 'boolean' } },
    'file_path',
    'old_string',
    'new_string',
  ),
  effect: 'idempotent',
  async run(input, { workspace }) {
    const path = text(input, 'file_path')
    const content = await readText(workspace, path)
    const all = (input as Input)['replace_all'] === true
    const next = edited(content, text(input, 'old_string'), text(input, 'new_string'), all, path)
    await workspace.write(path, bytesOf(path, next))
    return `edited ${path}`
  },
}

const glob: Tool = {
  name: 'Glob',
  description: 'Lists files of the workspace whose path fits a pattern like **/*.md.',
  input: object({ pattern: STRING }, 'pattern'),
  effect: 'none',
  async run(input, { workspace }) {
    const fits = compileGlob(text(input, 'pattern'))
    const paths = (await workspace.list()).map(({ path }) => path).filter(fits)
    return paths.length === 0 ? 'no files' : paths.join('\n')
  },
}

interface Hit {
  readonly path: string
  readonly line: number
}

const hitsIn = (lines: readonly string[], path: string, pattern: string, room: number): readonly Hit[] => {
  const compiled = compilePattern(pattern)
  const hits: Hit[] = []
  for (const [index, line] of lines.entries()) {
    if (hits.length >= room) break
    if (compiled.matcher(line.slice(0, MAX_LINE)).find()) hits.push({ path, line: index })
  }
  return hits
}

const shownHit = (lines: readonly string[], { path, line }: Hit, around: number): string => {
  const from = Math.max(0, line - around)
  return lines
    .slice(from, line + around + 1)
    .map((content, index) => `${path}:${from + index + 1}: ${shortened(content)}`)
    .join('\n')
}

const grep: Tool = {
  name: 'Grep',
  description: 'Finds lines in files of the workspace that fit an RE2 expression.',
  input: object(
    { pattern: STRING, glob: STRING, context: { type: 'integer', minimum: 0, maximum: MAX_CONTEXT } },
    'pattern',
  ),
  effect: 'none',
  async run(input, { workspace }) {
    const fits = compileGlob(text(input, 'glob') || '**')
    const around = count(input, 'context', 0)
    const found: string[] = []
    for (const { path } of (await workspace.list()).filter((file) => fits(file.path))) {
      const content = await readText(workspace, path).catch(() => null)
      if (content === null) continue
      const lines = content.split('\n')
      const hits = hitsIn(lines, path, text(input, 'pattern'), MAX_HITS - found.length)
      found.push(...hits.map((hit) => shownHit(lines, hit, around)))
      if (found.length >= MAX_HITS) break
    }
    return found.length === 0 ? 'no lines' : found.join('\n')
  },
}

export const fileTools: readonly Tool[] = [read, write, edit, glob, grep]
