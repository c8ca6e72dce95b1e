/**
 * The thread that validates manifests: what happens to a text that takes too long or too much memory. Its real work is tested in
 * test/integration.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { Validation } from './validation.ts'

let folder: string
let entry: URL

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'trihand-validation-'))
  const file = join(folder, 'thread.mjs')
  writeFileSync(
    file,
    `import { parentPort, workerData } from 'node:worker_threads'
const { text } = workerData
if (text.startsWith('spin')) for (;;);
if (text.startsWith('eat')) for (const eaten = []; ; ) eaten.push(new Array(100_000).fill(eaten.length))
if (text.startsWith('leave')) process.exit(0)
parentPort.postMessage('done')
`,
  )
  entry = pathToFileURL(file)
})
afterAll(() => rmSync(folder, { recursive: true }))

const textOf = (word: string): { readonly text: string } => ({ text: word.padEnd(3_000) })

test.each([
  ['spin', 100, 'it takes longer than 100 ms'],
  ['eat', undefined, 'memory'],
  ['leave', undefined, 'its thread ended without an answer'],
])(
  'validation-2: a text that makes its thread %s is refused, and the next one is validated',
  async (word, mostMs, why) => {
    const validation = new Validation(mostMs === undefined ? { entry } : { entry, mostMs })
    const refused = expect(validation.judge(textOf(word))).rejects.toMatchObject({
      code: 'INPUT_INVALID',
      detail: expect.stringContaining(why),
    })
    const next = mostMs === undefined ? validation.judge(textOf('judge')) : null
    await refused
    expect(await (next ?? new Validation({ entry }).judge(textOf('judge')))).toBe('done')
  },
)

test('a short text is validated without a thread', async () => {
  expect(JSON.parse(await new Validation({ entry }).judge({ text: 'x: [', file: 'm.yaml' }))).toMatchObject({
    is_valid: false,
    findings: [{ file: 'm.yaml' }],
  })
})
