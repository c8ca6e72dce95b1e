/**
 * The place of a load error in a user's file: file, line and column, from the message of the loader or the stack.
 *
 * Owns the parsing of foreign error texts. Never guesses a place: without one it is null.
 */
import { relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Place } from '#model/kernel/errors.ts'

/** `at name (file:line:column)` or `at file:line:column`. */
const FRAME = /(?:\(|at (?:async )?)((?:file:\/\/)?[^\s()][^()]*?):(\d+):(\d+)\)?$/
/** The message of the loader for a file that it cannot parse; its columns count from 0. */
const PARSE_ERROR = /^ParseError: ([\s\S]*?)\s*\n\s*(.+):(\d+):(\d+)\s*$/

const pathOf = (text: string): string => (text.startsWith('file://') ? fileURLToPath(text) : text)

const isForeign = (path: string): boolean => path.startsWith('node:') || path.includes('node_modules')

const placeAt = (path: string, line: string | undefined, column: number): Place => ({
  file: relative('', path),
  line: Number(line),
  column,
})

/** The place of the first frame in a file of the user: below `folder`, not in a package. */
const placeInStack = (stack: string, folder: string): Place | null => {
  for (const text of stack.split('\n')) {
    const frame = FRAME.exec(text.trim())
    const path = pathOf(frame?.[1] ?? '')
    if (path.startsWith(folder) && !isForeign(path.slice(folder.length)))
      return placeAt(path, frame?.[2], Number(frame?.[3]))
  }
  return null
}

export interface Fault {
  readonly message: string
  readonly place: Place | null
}

export const faultOf = (error: unknown, folder: string): Fault => {
  if (!(error instanceof Error)) return { message: String(error), place: null }
  const parsed = PARSE_ERROR.exec(error.message)
  if (parsed !== null) {
    const [, message = '', path = '', line, column] = parsed
    return { message: message.trim(), place: placeAt(path, line, Number(column) + 1) }
  }
  return { message: error.message.split('\n')[0] ?? '', place: placeInStack(error.stack ?? '', folder) }
}
