/** The README keeps its word: its sample compiles, its pictures and proofs are there, its figures are those of the last run. */
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { PROJECT, temporaryFolder } from '../support/places.ts'

const README = readFileSync(join(PROJECT, 'README.md'), 'utf8')
const MOST_LINES = 150

/** What the sample takes for granted. */
const AROUND = `
interface Mail { readonly thread: number; readonly text: string }
declare const deliver: (mail: Mail, key: string) => Promise<void>
`

const CONFIG = {
  extends: join(PROJECT, 'tsconfig.json'),
  compilerOptions: {
    noEmit: true,
    typeRoots: [join(PROJECT, 'node_modules/@types')],
    paths: { trihand: [join(PROJECT, 'src/index.ts')] },
  },
  include: ['sample.ts', join(PROJECT, 'src/**/*.d.ts')],
}

test('the sample of the README compiles', () => {
  const sample = /```ts\n([\s\S]*?)```/.exec(README)?.[1] ?? ''
  expect(sample).toContain("from 'trihand'")
  const { path, remove } = temporaryFolder('readme')
  writeFileSync(join(path, 'package.json'), '{"type":"module"}')
  writeFileSync(join(path, 'sample.ts'), sample + AROUND)
  writeFileSync(join(path, 'tsconfig.json'), JSON.stringify(CONFIG))
  const { stdout, status } = spawnSync(
    process.execPath,
    [join(PROJECT, 'node_modules/typescript/bin/tsc'), '-p', path],
    {
      encoding: 'utf8',
    },
  )
  remove()
  expect(stdout).toBe('')
  expect(status).toBe(0)
})

test('the README is short, and every file that it names is there', () => {
  expect(README.split('\n').length).toBeLessThanOrEqual(MOST_LINES)
  const named = [...README.matchAll(/`((?:docs|test|src|examples)\/[\w./-]+)`|\]\((docs\/[^)]+)\)/g)]
  const paths = named.map(([, quoted, linked]) => quoted ?? linked ?? '')
  expect(paths.length).toBeGreaterThan(10)
  expect(paths.filter((path) => !existsSync(join(PROJECT, path)))).toEqual([])
})

test('its figures are those of the last measured run', () => {
  const { status, stderr } = spawnSync(process.execPath, [join(PROJECT, 'scripts/numbers.mjs'), '--check'], {
    encoding: 'utf8',
  })
  expect(stderr).toBe('')
  expect(status).toBe(0)
})
