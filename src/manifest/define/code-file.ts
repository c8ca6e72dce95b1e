/**
 * The code of a function as a file of its isolated module: named, and never loaded in the process of the host.
 *
 * Owns the mark by which such code is known, and which code goes with which module.
 */
import type { Module } from '#model/access/module.ts'
import { TrihandError } from '#model/kernel/errors.ts'

const MARK = Symbol.for('trihand.code_file')

interface CodeFile {
  /** From the module's folder, with `/`. */
  readonly file: string
  /** What it exports. */
  readonly name: string
}

type Code = (...given: readonly never[]) => never

/** `sell.ts` is the default export of that file, `shop.ts#sell` its export `sell`. */
export const codeFile = (reference: string, text = ''): Code => {
  const [file = '', name = 'default'] = reference.replace(/^\.\//, '').split('#')
  if (file === '' || file.split(/[\\/]/).includes('..') || /^([/\\]|[A-Za-z]:)/.test(file))
    throw new TrihandError('PATH_ESCAPE', `${reference} is no file below the folder of a module`)
  const code: Code = () => {
    throw new TrihandError(
      'ISOLATION_UNAVAILABLE',
      `${file} belongs to an isolated module and is not run in this process`,
    )
  }
  const mark: CodeFile = { file, name }
  // What a definition's hash covers.
  const spelled = (): string => `codeFile(${JSON.stringify(reference)}) ${text}`
  return Object.assign(code, { [MARK]: mark, toString: spelled })
}

/** Code as authors give it: `{ file }` names it. */
export const codeGiven = (code: unknown): unknown =>
  typeof code === 'object' && code !== null && 'file' in code ? codeFile(String(code.file)) : code

export const codeFileOf = (code: unknown): CodeFile | null =>
  typeof code === 'function' && MARK in code ? (code[MARK] as CodeFile) : null

/** What is wrong with this code in this module; null: nothing. */
export const misplacedCode = (code: unknown, module: Module | null): string | null => {
  if (typeof code !== 'function') return null
  const isFile = codeFileOf(code) !== null
  if (isFile && module?.isolation === undefined)
    return 'its code is a file of an isolated module; give its module isolation: process'
  if (!isFile && module?.isolation !== undefined)
    return `module ${module.name} runs in processes of its own; name the code as a file of its folder, ${module.isolation.folder}`
  return null
}
