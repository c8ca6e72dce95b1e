/** The file tools of agents: their output, truncation and refusals, and patterns that always return. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { TrihandError } from '#model/kernel/errors.ts'
import type { Json } from '#model/kernel/json.ts'
import type { Tool, Workspace } from '#ports/tool.ts'
import { compileGlob, compilePattern, fileTools } from './files.ts'

const encode = (text: string): Uint8Array => new TextEncoder().encode(text)

const workspaceOf = (
  given: Readonly<Record<string, string>>,
): Workspace & { readonly texts: () => Record<string, string> } => {
  const files = new Map(Object.entries(given).map(([path, text]) => [path, encode(text)]))
  return {
    read: async (path) => {
      const found = files.get(path)
      if (found === undefined) throw new TrihandError('NOT_FOUND', path)
      return found
    },
    write: async (path, bytes) => void files.set(path, bytes),
    remove: async (path) => void files.delete(path),
    list: async () => [...files].map(([path, bytes]) => ({ path, bytes: bytes.length })),
    texts: () => Object.fromEntries([...files].map(([path, bytes]) => [path, new TextDecoder().decode(bytes)])),
  }
}

const use = (name: string, input: Json, workspace: Workspace): Promise<Json> => {
  const tool = fileTools.find((one) => one.name === name) as Tool
  const fetch = () => Promise.reject(new Error('no network'))
  return Promise.resolve(tool.run(input, { effectKey: 'k', signal: new AbortController().signal, workspace, fetch }))
}
const codeOf = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => 'none',
    (error: unknown) => (error instanceof TrihandError ? error.code : String(error)),
  )

describe('[B3] file tools', () => {
  test('Read numbers lines, begins at the offset and says when it was cut', async () => {
    const workspace = workspaceOf({ 'a.md': Array.from({ length: 2_500 }, (_, i) => `line ${i + 1}`).join('\n') })
    expect(await use('Read', { file_path: 'a.md', offset: 2, limit: 2 }, workspace)).toBe(
      '2\tline 2\n3\tline 3\n[2497 more lines]',
    )
    expect(String(await use('Read', { file_path: 'a.md' }, workspace)).split('\n').length).toBe(2_001)
  })

  test('Read refuses a file that is not text', async () => {
    expect(await codeOf(use('Read', { file_path: 'a' }, workspaceOf({ a: 'x\0y' })))).toBe('FILE_BINARY')
  })

  test('Edit replaces a text that occurs once, and inserts the new text literally', async () => {
    const workspace = workspaceOf({ a: 'one two two' })
    await use('Edit', { file_path: 'a', old_string: 'one', new_string: '$& $1' }, workspace)
    expect(workspace.texts()).toEqual({ a: '$& $1 two two' })
    const twice = { file_path: 'a', old_string: 'two', new_string: '2' }
    expect(await codeOf(use('Edit', twice, workspace))).toBe('EDIT_AMBIGUOUS')
    expect(await codeOf(use('Edit', { ...twice, old_string: 'six' }, workspace))).toBe('EDIT_NO_MATCH')
    await use('Edit', { ...twice, replace_all: true }, workspace)
    expect(workspace.texts()).toEqual({ a: '$& $1 2 2' })
  })

  test('Write refuses a file above the limit', async () => {
    const input = { file_path: 'a', content: 'x'.repeat(1024 * 1024 + 1) }
    expect(await codeOf(use('Write', input, workspaceOf({})))).toBe('WORKSPACE_QUOTA')
  })

  test('Glob and Grep find files and lines', async () => {
    const workspace = workspaceOf({ 'a.md': 'alpha\nbeta', 'deep/b.md': 'beta', 'c.txt': 'beta' })
    expect(await use('Glob', { pattern: '**/*.md' }, workspace)).toBe('a.md\ndeep/b.md')
    expect(await use('Glob', { pattern: '*.{md,txt}' }, workspace)).toBe('a.md\nc.txt')
    expect(await use('Grep', { pattern: '^b', glob: '**/*.md' }, workspace)).toBe('a.md:2: beta\ndeep/b.md:1: beta')
    expect(await use('Grep', { pattern: '^b', glob: 'a.md', context: 1 }, workspace)).toBe(
      'a.md:1: alpha\na.md:2: beta',
    )
    expect(await codeOf(use('Grep', { pattern: '(' }, workspace))).toBe('TOOL_INPUT_INVALID')
  })
})

describe('patterns', () => {
  test('a pattern that makes other matchers hang gets an answer', () => {
    const fits = compileGlob('*a*a*a*a*a*a*a*a*b')
    expect(fits('a'.repeat(5_000))).toBe(false)
    expect(
      compilePattern('(a+)+$')
        .matcher(`${'a'.repeat(5_000)}!`)
        .find(),
    ).toBe(false)
  })

  test('any text is a glob that matches or is refused', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: fc.constantFrom(...'*?{},./[]()\\ab'), maxLength: 40 }),
        fc.string(),
        (glob, path) => {
          try {
            expect(typeof compileGlob(glob)(path)).toBe('boolean')
          } catch (error) {
            expect((error as TrihandError).code).toBe('TOOL_INPUT_INVALID')
          }
        },
      ),
      { numRuns: 2_000 },
    )
  })
})
