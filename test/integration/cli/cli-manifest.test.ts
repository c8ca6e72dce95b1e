/** The built command on a folder with a manifest: findings, graph, types, simulation, and running it. */
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { PROJECT } from '#test/support/places.ts'
import { buildCommand, Folder } from '#test/support/serving/command.ts'

const MANIFEST = `product: {name: shop}
events:
  - {name: order.placed, source: external, payload: {id: string!, total: number}}
  - {name: order.packed, terminal: true}
functions:
  - {name: pack, trigger: {event: order.placed, filter: total > 3}}
  - {name: later, trigger: {event: order.placed, filter: total > 100}}
`
/** Leaves a trace when it is loaded: verbs that only read must not load it. */
const PACK = `import { writeFileSync } from 'node:fs'
writeFileSync('loaded.txt', 'yes')
export default async ({ input, step }) => step.run('box', ({ emit }) => {
  emit('order.packed', { id: input.id })
  return { packed: input.id }
})
`

let folder: Folder
beforeAll(buildCommand)
beforeEach(() => {
  folder = new Folder({ 'manifest.yaml': MANIFEST, 'functions/pack.ts': PACK })
})
afterEach(() => folder.remove())

/** The compiler's findings for a text. */
const typeErrors = (text: string): readonly string[] => {
  const file = join(folder.path, 'use.ts')
  writeFileSync(file, text)
  const { stdout } = spawnSync(
    join(PROJECT, 'node_modules/.bin/tsc'),
    ['--noEmit', '--strict', '--ignoreConfig', file],
    { encoding: 'utf8' },
  )
  return stdout.split('\n').filter((line) => line.includes('error TS'))
}

const wasLoaded = (): boolean => existsSync(join(folder.path, 'loaded.txt'))

describe('[A2] manifest verbs that only read', () => {
  test('a valid manifest is reported with notes, and no code of its folder is executed', async () => {
    const { code, stdout } = await folder.run(['manifest', 'validate'])
    expect(code).toBe(0)
    expect(stdout).toContain('manifest.yaml:7:5 info LINT_HANDLER_MISSING later has no code yet')
    expect(stdout).toMatch(/shop: 0 errors, 0 warnings, \d+ notes?\n$/)
    for (const verb of ['graph', 'types', 'print']) expect((await folder.run(['manifest', verb])).code).toBe(0)
    expect(wasLoaded()).toBe(false)
  })

  test('an invalid manifest ends with 4, each finding with file, line and column', async () => {
    folder.write('manifest.yaml', MANIFEST.replace('total > 3', 'total >').replace('name: later', 'name: pack'))
    const { code, stdout } = await folder.run(['manifest', 'validate'])
    expect(code).toBe(4)
    expect(stdout).toMatch(/^manifest\.yaml:6:\d+ error EXPR_REJECTED /)
    expect(stdout).toContain('manifest.yaml:7:5 error MANIFEST_DUPLICATE_NAME')
  })

  test('--json prints the findings as one document', async () => {
    folder.write('manifest.yaml', MANIFEST.replace('functions:', 'funtions: {}\nfunctions:'))
    const document = await folder.json(['manifest', 'validate'])
    expect(document.system.functions.map(({ name }: { name: string }) => name)).toEqual(['pack', 'later'])
    expect(document.warnings).toEqual([
      {
        level: 'warning',
        code: 'MANIFEST_UNKNOWN_KEY',
        message: 'funtions is unknown here; did you mean functions?',
        file: 'manifest.yaml',
        line: 5,
        column: 1,
        path: 'funtions',
        hint: 'Fix the spelling, or begin the key with x- to keep it as a note.',
      },
    ])
  })

  test('warnings count only with --strict', async () => {
    folder.write('manifest.yaml', MANIFEST.replace('{name: pack,', '{name: pack, emits: [order.lost],'))
    expect((await folder.run(['manifest', 'validate'])).code).toBe(0)
    for (const verb of ['validate', 'graph']) expect((await folder.run(['manifest', verb, '--strict'])).code).toBe(4)
  })

  test('[A3] the graph is drawn, and is data with --json', async () => {
    expect((await folder.run(['manifest', 'graph'])).stdout).toMatch(/^flowchart LR\n/)
    const { edges } = await folder.json(['manifest', 'graph'])
    expect(edges).toContainEqual({
      from: 'event:order.placed',
      to: 'function:pack',
      kind: 'hears',
      label: 'payload.total > 3',
    })
  })

  test('[A4] the generated types compile and match', async () => {
    const { stdout } = await folder.run(['manifest', 'types'])
    const use =
      "const order: Events['order.placed'] = { id: 'a', total: 3 }\nexport const name: HandlerName = 'pack'\nexport { order }\n"
    expect(typeErrors(stdout + use)).toEqual([])
    expect(typeErrors(stdout + use.replace("id: 'a'", 'id: 7'))).toHaveLength(1)
  })

  test('the printed manifest is valid, and prints the same again', async () => {
    const { stdout } = await folder.run(['manifest', 'print'])
    folder.write('manifest.yaml', stdout)
    expect((await folder.run(['manifest', 'print'])).stdout).toBe(stdout)
  })

  test('a folder without a manifest is reported', async () => {
    const { code, stderr } = await folder.run(['manifest', 'validate', 'functions'])
    expect([code, stderr]).toEqual([4, expect.stringMatching(/^LOAD_FAILED functions has no manifest\.yaml/)])
  })
})

describe('[A3] simulate', () => {
  const COMPLETE = MANIFEST.replace('{name: pack,', '{name: pack, emits: order.packed,')

  test('reaches every handler, and executes no code of the folder', async () => {
    folder.write('manifest.yaml', COMPLETE)
    const { code, stdout } = await folder.run(['simulate'])
    expect([code, stdout]).toEqual([0, expect.stringContaining('handlers: 2 of 2 reached')])
    expect(wasLoaded()).toBe(false)
  })

  test('reports what is not reached and ends with 1, also as one JSON document', async () => {
    const { code, stdout } = await folder.run(['simulate'])
    expect([code, stdout]).toEqual([1, expect.stringContaining('order.packed was not reached: nothing sends it')])
    const failed = await folder.run(['simulate', '--json', '--seed', '3'])
    expect(failed.code).toBe(1)
    expect(JSON.parse(failed.stdout)).toMatchObject({ seed: 3, complete: false, handlers: { missed: [] } })
  })

  test('reaches all of the example campaign; without one of its emits it does not', async () => {
    const text = readFileSync(join(PROJECT, 'examples/campaign/manifest.yaml'), 'utf8')
    folder.write('manifest.yaml', text)
    const { complete, handlers } = await folder.json(['simulate'])
    expect([complete, handlers.missed]).toEqual([true, []])
    folder.write('manifest.yaml', text.replace('emits: [campaign.drafted]', ''))
    const { code, stdout } = await folder.run(['simulate'])
    expect([code, stdout]).toEqual([1, expect.stringContaining('no part of the system sends campaign.drafted')])
  })

  test('refuses a manifest that does not load, and invalid flags', async () => {
    expect((await folder.run(['simulate', '--paths', 'some'])).code).toBe(2)
    folder.write('manifest.yaml', 'product: 3\n')
    const { code, stderr } = await folder.run(['simulate'])
    expect([code, stderr]).toEqual([4, expect.stringContaining('MANIFEST_INVALID')])
  })
})

describe('[A2] running a manifest', () => {
  test('an event starts the functions of the manifest, with the code beside it', async () => {
    const receipt = await folder.json(['send', 'order.placed', '{"id":"a","total":7}', '--wait', '10s'])
    expect(receipt.results).toMatchObject([{ handler: 'pack', status: 'success', output: { packed: 'a' } }])
    expect(wasLoaded()).toBe(true)
    const { items } = await folder.json(['events', 'list'])
    expect(items.map(({ type }: { type: string }) => type)).toEqual(['order.packed', 'order.placed'])
  })

  test('[A4] data that does not fit the payload is refused with a JSON pointer', async () => {
    const { code, stderr } = await folder.run(['send', 'order.placed', '{"id":7}'])
    expect(code).toBe(4)
    expect(stderr).toContain('EVENT_INVALID event order.placed does not match its schema: /id: must be string')
  })

  test('a run of a function without code waits, and continues once the code is written; a start by name is refused (13.2.2)', async () => {
    const refused = await folder.run(['run', 'later', '{}'])
    expect([refused.code, refused.stderr]).toEqual([4, expect.stringContaining('FUNCTION_NOT_IMPLEMENTED later')])
    const order = (id: string, patience: string) =>
      folder.run(['send', 'order.placed', JSON.stringify({ id, total: 700 }), '--wait', patience])
    const statuses = async (): Promise<unknown> => {
      const { items } = await folder.json(['runs', 'list', '--handler', 'later'])
      return items.map(({ status }: { readonly status: string }) => status)
    }
    expect((await order('a', '1s')).stdout).toMatch(/pack +success/)
    expect(await statuses()).toEqual(['queued'])
    folder.write('functions/later.ts', "export default async () => 'written'\n")
    // The older run is due first, so it has ended before the new one.
    expect((await order('b', '30s')).stdout).toMatch(/later +success/)
    expect(await statuses()).toEqual(['success', 'success'])
  })

  test('a manifest that does not load is reported with its first error and the place', async () => {
    folder.write('manifest.yaml', MANIFEST.replace('total > 3', 'total >'))
    const { code, stderr } = await folder.run(['dev', '--port', '0'])
    expect(code).toBe(4)
    expect(stderr).toMatch(/^EXPR_REJECTED manifest\.yaml:6:\d+ /)
  })

  test('code that exports another name is refused', async () => {
    writeFileSync(
      join(folder.path, 'functions/later.ts'),
      "import { fn } from 'trihand'\nexport default fn('other', {}, () => 1)\n",
    )
    const { code, stderr } = await folder.run(['send', 'order.placed', '{"id":"a"}'])
    expect([code, stderr]).toEqual([
      4,
      expect.stringContaining('functions/later.ts is loaded as later but declares other'),
    ])
  })

  test('[B2] an agent uses a tool beside the manifest that it is allowed; a file that is not a tool is refused', async () => {
    folder.write(
      'manifest.yaml',
      `product: {name: shop}
events: [{name: order.placed, source: external}]
agents: [{name: weigher, triggers: [order.placed], config: {allowed_tools: [weigh]}}]
`,
    )
    folder.write('agents/weigher/CLAUDE.md', 'Weigh it.')
    folder.write(
      'scripts/weigher.yaml',
      'agent: weigher\nanswers:\n  - {turn: 1, calls: [{tool: weigh, input: {id: a}}]}\n  - {after: weigh, say: it was weighed}\n',
    )
    folder.write(
      'tools/weigh.ts',
      `import { writeFileSync } from 'node:fs'
import { tool } from 'trihand'
const input = { type: 'object', properties: { id: { type: 'string' } }, required: ['id'] }
export default tool<{ id: string }>('weigh', { effect: 'none', input }, ({ id }) => {
  writeFileSync('weighed.txt', id)
  return 7
})
`,
    )
    const { results } = await folder.json(['send', 'order.placed', '{"id":"a"}', '--wait', '10s'])
    expect(results).toMatchObject([{ handler: 'weigher', status: 'success', output: 'it was weighed' }])
    expect(readFileSync(join(folder.path, 'weighed.txt'), 'utf8')).toBe('a')
    folder.write('tools/lift.ts', 'export const lift = 1\n')
    const { code, stderr } = await folder.run(['send', 'order.placed', '{"id":"a"}'])
    expect([code, stderr]).toEqual([4, expect.stringContaining('tools/lift.ts exports no default tool')])
  })
})
