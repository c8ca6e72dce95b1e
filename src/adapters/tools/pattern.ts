/**
 * Patterns that a model writes: globs and expressions, matched in linear time whatever they are.
 *
 * Owns the translation of globs. JS expressions never see a model's pattern: some of them would not come back.
 */
import { RE2JS } from 're2js'
import { TrihandError } from '#model/kernel/errors.ts'

const MAX_PATTERN = 1_000
const SPECIAL = /[.+^$()|[\]{}\\]/g

const refused = (pattern: string, why: string): TrihandError =>
  new TrihandError('TOOL_INPUT_INVALID', `the pattern ${JSON.stringify(pattern.slice(0, 80))} ${why}`)

export const compilePattern = (pattern: string, flags = 0): RE2JS => {
  if (pattern === '' || pattern.length > MAX_PATTERN) throw refused(pattern, `has not 1 to ${MAX_PATTERN} characters`)
  try {
    return RE2JS.compile(pattern, flags)
  } catch (error) {
    throw refused(pattern, error instanceof Error ? error.message : 'cannot be read')
  }
}

/** One piece of a glob at this place, and how long it was. `**` crosses folders, `*` and `?` do not. */
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
