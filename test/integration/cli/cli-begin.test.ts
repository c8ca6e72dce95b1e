/** The first minutes with the built command: `init` from each template, and what `doctor` reports about a folder. */
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { buildCommand, Folder } from '#test/support/serving/command.ts'

beforeAll(buildCommand, 120_000)

let folder: Folder
beforeEach(() => {
  folder = new Folder()
})
afterEach(() => folder.remove())

const read = (name: string): string => readFileSync(join(folder.path, name), 'utf8')

interface Doctor {
  readonly findings: readonly { readonly name: string; readonly state: string; readonly says: string }[]
}

const stateOf = ({ findings }: Doctor, name: string): string | undefined =>
  findings.find((finding) => finding.name === name)?.state

describe('trihand init', () => {
  test.each([['campaign'], ['chat'], ['hello-contacts'], ['empty']])(
    'the template %s is valid, reaches every handler in a simulation, and runs',
    async (template) => {
      await folder.json(['init', 'mine', '--template', template])
      expect((await folder.run(['manifest', 'validate', 'mine', '--strict'])).code).toBe(0)
      expect((await folder.run(['simulate', 'mine'])).code).toBe(0)
      const server = await folder.serve(['dev', 'mine', '--port', '0'])
      expect((await fetch(`${server.url}/health`)).status).toBe(200)
    },
  )

  test('the created folder is a package with a README for newcomers, and it works', async () => {
    const { written, kept } = await folder.json(['init', 'My System', '--template', 'empty'])
    expect(kept).toEqual([])
    expect(written).toEqual(
      expect.arrayContaining(['package.json', '.gitignore', '.env.example', 'README.md', 'manifest.yaml']),
    )
    expect(JSON.parse(read('My System/package.json'))).toMatchObject({ name: 'my-system', type: 'module' })
    const data = '{"name":"Ada"}'
    const sent = await folder.json(['send', 'greeting.requested', data, '--system', 'My System', '--wait', '20s'])
    expect(JSON.stringify(sent)).toContain('Hello Ada')
  })

  test('a folder that is not empty is refused; --force adds missing files and overwrites nothing', async () => {
    folder.write('manifest.yaml', 'mine: true\n')
    const refused = await folder.run(['init', '.', '--template', 'empty'])
    expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining('manifest.yaml')])
    expect(existsSync(join(folder.path, 'package.json'))).toBe(false)
    expect(await folder.json(['init', '.', '--template', 'empty', '--force'])).toMatchObject({
      kept: ['manifest.yaml'],
    })
    expect(read('manifest.yaml')).toBe('mine: true\n')
    expect(existsSync(join(folder.path, 'functions/write-greeting.ts'))).toBe(true)
  })

  test('an unknown template is refused with the nearest name, and nothing is written', async () => {
    const { code, stderr } = await folder.run(['init', 'mine', '--template', 'campain'])
    expect([code, stderr]).toEqual([2, expect.stringContaining('did you mean campaign')])
    expect(existsSync(join(folder.path, 'mine'))).toBe(false)
  })

  test('a file in place of the folder is refused as such', async () => {
    folder.write('mine', '')
    const { code, stderr } = await folder.run(['init', 'mine'])
    expect([code, stderr]).toEqual([2, expect.stringContaining('is a file; name a folder')])
  })
})

test('dev and doctor report a harmless mistake in a manifest', async () => {
  await folder.json(['init', 'mine', '--template', 'empty'])
  folder.write('mine/manifest.yaml', `${read('mine/manifest.yaml')}\nshedules: []\n`)
  // Ends at once, because this ledger does not exist.
  const { code, stderr } = await folder.run(['dev', 'mine', '--database', 'mysql://x'])
  expect([code, stderr]).toEqual([
    2,
    expect.stringMatching(/manifest\.yaml:\d+:1 warning MANIFEST_UNKNOWN_KEY shedules/),
  ])
  const { findings }: Doctor = await folder.json(['doctor', 'mine'])
  expect(findings).toContainEqual(
    expect.objectContaining({ name: 'system', state: 'warn', says: expect.stringContaining('with 1 warning') }),
  )
})

describe('trihand doctor', () => {
  test('in an empty folder it explains how to start, and creates nothing', async () => {
    const report = await folder.json(['doctor'])
    expect(stateOf(report, 'system')).toBe('warn')
    expect(stateOf(report, 'ledger')).toBe('ok')
    expect(stateOf(report, 'models')).toBe('warn')
    expect(existsSync(join(folder.path, '.trihand'))).toBe(false)
  })

  test('a system that does not load, an invalid ledger and a port in use end with 1, each with a remedy', async () => {
    folder.write('system.ts', 'export const system = nobody\n')
    folder.write('broken.db', 'this is no database, and long enough to be looked at '.repeat(50))
    const other = createServer().listen(0, '127.0.0.1')
    await once(other, 'listening')
    const { port } = other.address() as { readonly port: number }
    const env = { DATABASE_URL: 'broken.db', PORT: String(port) }
    const { code, stdout } = await folder.run(['doctor', '--json'], { env })
    const report = JSON.parse(stdout) as Doctor
    expect(code).toBe(1)
    for (const name of ['system', 'ledger', 'port']) expect([name, stateOf(report, name)]).toEqual([name, 'fail'])
    const system = report.findings.find(({ name }) => name === 'system')
    expect(system?.says).toMatch(/^LOAD_FAILED system\.ts:1:\d+ /)
    await new Promise((resolve) => other.close(resolve))
  })

  test.each([
    ['claude-opus-5', 'warn', 'simulated, agents answer from scripts: home: ANTHROPIC_API_KEY is not set'],
    ['{ id: qwen, base_url: "http://127.0.0.1:9/v1" }', 'ok', 'live: home (qwen of openai-compatible)'],
  ])('reports which models are simulated, and why: %s (15.3.2)', async (model, state, says) => {
    await folder.json(['init', '.', '--template', 'empty'])
    folder.write('manifest.yaml', `${read('manifest.yaml')}\ndefaults: { model: home, models: { home: ${model} } }\n`)
    const { findings }: Doctor = await folder.json(['doctor'])
    expect(findings.find(({ name }) => name === 'models')).toMatchObject({ state, says })
  })

  test('queries a running server', async () => {
    folder.write(
      'system.ts',
      `import { defineSystem } from 'trihand'\nexport const system = defineSystem({ name: 'a' })\n`,
    )
    const server = await folder.serve(['dev', '--port', '0'])
    const report = await folder.json(['doctor'])
    expect(report.findings).toContainEqual(
      expect.objectContaining({ name: 'ledger', state: 'ok', says: expect.stringContaining(server.url) }),
    )
    expect(stateOf(report, 'port')).toBe('ok')
  })
})
