/**
 * The code of a function as a file of its isolated module: referred to by name, and never loaded in the host's process.
 *
 * Owns the brand that marks such code, and which code may be used with which module.
 */
import type { Module } from '#model/access/module.ts'
import { TrihandError } from '#model/kernel/errors.ts'

const MARK = Symbol.for('trihand.code_file')

interface CodeFile {
  /** Path from the module's folder, with `/`. */
  readonly file: string
  /** The name of the export. */
  readonly name: string
}

type Code = (...given: readonly never[]) => never

/** `sell.ts` is the default export of that file, `shop.ts#sell` its export `sell`. */
export const codeFile = (reference: string, text = ''): Code => {
  const [file = '', name = 'default'] = reference.replace(/^\.\//, '').split('#')
  if (file === '' || file.split(/[\\/]/).includes('..') || /^([/\\]|[A-Za-z]:)/.test(file))
    throw new TrihandError('PATH_ESCAPE', `${reference} is not a file in the folder of a module`)
  const code: Code = () => {
    throw new TrihandError(
      'ISOLATION_UNAVAILABLE',
      `${file} belongs to an isolated module and cannot run in this process`,
    )
  }
  const mark: CodeFile = { file, name }
  // The text that a definition's hash covers.
  const spelled = (): string => `codeFile(${JSON.stringify(reference)}) ${text}`
  return Object.assign(code, { [MARK]: mark, toString: spelled })
}

/** Code as authors give it: `{ file }` refers to a file. */
export const codeGiven = (code: unknown): unknown =>
  typeof code === 'object' && code !== null && 'file' in code ? codeFile(String(code.file)) : code

export const codeFileOf = (code: unknown): CodeFile | null =>
  typeof code === 'function' && MARK in code ? (code[MARK] as CodeFile) : null

/** What is wrong with this code in this module; null: nothing. */
export const misplacedCode = (code: unknown, module: Module | null): string | null => {
  if (typeof code !== 'function') return null
  const isFile = codeFileOf(code) !== null
  if (isFile && module?.isolation === undefined)
    return 'its code is a file, which needs an isolated module; give its module isolation: process'
  if (!isFile && module?.isolation !== undefined)
    return `module ${module.name} runs in separate processes; give the code as a file in its folder, ${module.isolation.folder}`
  return null
}
