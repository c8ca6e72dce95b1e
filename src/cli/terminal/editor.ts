/**
 * Opens a document in the person's own editor: `$VISUAL` or `$EDITOR`.
 *
 * Owns the temporary file, which only its owner can read, and the check that the result is JSON.
 */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Json } from '#http/openapi/api.ts'
import { TrihandError } from '#model/kernel/errors.ts'
import { parseJson } from './json-argument.ts'

type Members = Readonly<Record<string, Json>>

const editorOf = (env: NodeJS.ProcessEnv): string => {
  const editor = env['VISUAL'] || env['EDITOR']
  if (editor) return editor
  throw new TrihandError(
    'CONFIG_INVALID',
    'no editor is set: set EDITOR, like EDITOR=vi, or decide with `trihand tasks decide --items`',
  )
}

const isMembers = (value: Json): value is Members =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

export const editedJson = (value: Members): Members => {
  const editor = editorOf(process.env)
  const folder = mkdtempSync(join(tmpdir(), 'trihand-edit-'))
  const file = join(folder, 'items.json')
  try {
    writeFileSync(file, `${JSON.stringify(value, null, 2)}\n`, { mode: 0o600 })
    // An editor may have flags: EDITOR="code --wait".
    const { status, error } = spawnSync(`${editor} "$TRIHAND_EDITED"`, {
      shell: true,
      stdio: 'inherit',
      env: { ...process.env, TRIHAND_EDITED: file },
    })
    if (error !== undefined || status !== 0)
      throw new TrihandError('CONFIG_INVALID', `${editor} ended with ${status ?? error?.message}; nothing was changed`)
    const edited = parseJson(`@${file}`, 'the edited file') as Json
    if (!isMembers(edited))
      throw new TrihandError('CONFIG_INVALID', 'the edited file must stay an object with one member per item')
    return edited
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
