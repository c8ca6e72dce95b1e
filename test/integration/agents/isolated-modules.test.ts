/** Modules with `isolation: process` in a folder with a manifest: their code runs in real processes with real steps. */
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { loadSystem } from '#cli/manifest/load-system.ts'
import { createTrihand, type Trihand } from '#compose/assemble.ts'
import { fn } from '#executors/workflow/function.ts'
import { defineSystem } from '#manifest/define/define.ts'
import { fastFolder } from '#test/support/places.ts'
import { until } from '#test/support/until.ts'

const place = fastFolder('isolated')
const FILES: Readonly<Record<string, string>> = {
  'manifest.yaml': `
product: { name: isolated }
events: { open: true, definitions: [] }
functions:
  - { name: work }
  - { name: kid }
  - { name: crash, retry: { max_attempts: 1 } }
  - { name: fast, retry: { max_attempts: 1 } }
  - { name: charge, effect: once }
  - { name: free }
modules:
  - name: shop
    isolation: process
    functions: [work, kid, crash, fast, charge]
    allow:
      operations: [emit_event, db_write, api_call]
      hosts: [good.test]
      events: ['sale.*']
      tables: { write: [sale] }
      secrets: [SHOP_PIN]
`,
  'modules/shop/work.ts': `
import { readFileSync } from 'node:fs'
import { StepFailure } from 'trihand'
import { add, type Sum } from './lib/add.js'
interface Given { readonly n: number }
const kept = fetch
export default async ({ input, step, run, recall, effectKey }: any) => {
  const { n } = input as Given
  const first: Sum = await step.run('first', ({ attempt, effectKey, emit, write }: any) => {
    emit('sale.made', { n })
    write('sale', String(n), { n })
    return { sum: add(n, 1), attempt, effectKey }
  })
  await step.sleep('a while', '20ms')
  const [a, b] = await Promise.all([step.run('a', async () => 'a'), step.run('b', () => 'b'), step.sleep('later', '10ms')])
  const rounds: number[] = []
  for (let i = 0; i < 3; i++) rounds.push(await step.run('round', () => i))
  const child = await step.invoke('child', 'kid', { n })
  let caught = ''
  await step.run('fails', () => { throw new Error('not today') }, { retry: { maxAttempts: 1 } }).catch((error: any) => {
    caught = [error instanceof StepFailure, error.code, error.message].join(' ')
  })
  const refused = async (work: () => unknown) => { try { await work(); return 'done' } catch (error: any) { return error.code + ' ' + error.message } }
  return {
    first, a, b, rounds, child, caught, run: run.id.slice(0, 4), key: effectKey.length > 9, recalled: await recall('x').catch(() => null),
    pin: await step.secret('SHOP_PIN'),
    denied: [await refused(() => step.secret('HOME')), await refused(() => step.fetch('out', 'https://evil.test')), await refused(() => kept('https://evil.test'))],
    here: readFileSync(new URL('./lib/add.ts', import.meta.url), 'utf8').length > 9,
    env: Object.keys(process.env), pid: process.pid,
  }
}
`,
  'modules/shop/lib/add.ts':
    'export interface Sum { sum: number }\nexport const add = (a: number, b: number): number => a + b\n',
  'modules/shop/kid.mjs': `export default async ({ input, step }) => step.run('k', () => input.n * 2)\n`,
  'modules/shop/crash.js': `
import { writeSync } from 'node:fs'
const bad = {
  exit: () => process.exit(3),
  loop: () => { for (;;); },
  throw: () => { setTimeout(() => { throw new Error('from nowhere') }); return new Promise(() => {}) },
  fill: () => { const all = []; for (;;) all.push(new Array(1e6).fill(all.length)) },
  forge: () => { writeSync(3, 'no message\\n'); return new Promise(() => {}) },
}
export default async ({ input, step }) => {
  if (input.where === 'code') return bad[input.how]()
  if (input.where === 'once') return step.run('once', bad[input.how], { effect: 'once' })
  if (input.where === 'second') return step.run('tries', ({ attempt }) => (attempt === 1 ? bad[input.how]() : attempt))
  return step.run('step', bad[input.how], { retry: { maxAttempts: 1 } })
}
`,
  'modules/shop/fast.js': `
export default async ({ input, step, signal }) => {
  if (input === 'wait') return step.run('wait', ({ signal }) => new Promise((done) => signal.addEventListener('abort', () => done('stopped'))))
  if (input === 'emit') return step.run('tell', ({ emit }) => emit('other.made', {}))
  if (input === 'date') return new Date(0)
  if (input === 'beside') {
    void step.sleep('late', '1h')
    const one = await step.run('one', () => 1)
    return one + (await step.run('two', async () => 2))
  }
  if (input === 'fetch') {
    const answer = await fetch('http://good.test:' + globalThis.port, { method: 'POST', body: new Uint8Array([1, 2, 255]) })
    return { status: answer.status, type: answer.headers.get('content-type'), bytes: [...new Uint8Array(await answer.arrayBuffer())] }
  }
  if (typeof input === 'number') { globalThis.port = input; return null }
  return process.pid
}
`,
  'modules/shop/charge.js': `export default ({ input }) => (input === 'die' ? process.exit(1) : 'charged')\n`,
  'functions/free.ts': 'export default async () => process.pid\n',
}

let app: Trihand
const server = createServer((request, response) => {
  const bytes: Buffer[] = []
  request.on('data', (some: Buffer) => bytes.push(some))
  request.on('end', () => response.writeHead(201, { 'content-type': 'x/y' }).end(Buffer.concat(bytes)))
})

beforeAll(async () => {
  for (const [path, text] of Object.entries(FILES)) {
    mkdirSync(join(place.path, path, '..'), { recursive: true })
    writeFileSync(join(place.path, path), text)
  }
  process.env['SHOP_PIN'] = 'pin-1234-5678'
  const { source } = await loadSystem(place.path, join(place.path, '.trihand/cache'))
  app = await createTrihand({
    ...{ system: source, database: 'memory:' },
    isolation: { processes: 2, hang: '700ms', memoryMb: 64 },
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
})
afterAll(async () => {
  await app.close()
  delete process.env['SHOP_PIN']
  server.close()
  place.remove()
})

const failure = async (name: string, input: unknown) => (await app.call(name, input)).error

describe('an isolated module', () => {
  test('[N9] its functions get steps, files of their folder and secrets by name, and nothing else of the host (15.2)', async () => {
    const { status, output, error } = await app.call('work', { n: 4 })
    expect({ status, error }).toEqual({ status: 'success', error: null })
    const said = output as Record<string, never>
    expect(said).toMatchObject({
      ...{ first: { sum: 5, attempt: 1 }, a: 'a', b: 'b', rounds: [0, 1, 2], child: 8, run: 'run_', key: true },
      ...{ caught: 'true FUNCTION_FAILED step fails failed: not today', here: true, env: [] },
      // The code sees the value; what is written shows it redacted.
      pin: '[redacted:SHOP_PIN]',
    })
    expect(said['denied']).toEqual([
      'MODULE_DENIED MODULE_DENIED: module shop may not use secret HOME',
      'MODULE_DENIED MODULE_DENIED: module shop may not use host evil.test',
      'MODULE_DENIED MODULE_DENIED: module shop may not use host evil.test',
    ])
    expect(said['pid']).not.toBe(process.pid)
    expect((await app.call('free', null)).output).toBe(process.pid)
    expect(await app.reader.document(app.tenant, 'sale', '4')).toEqual({ n: 4 })
  })

  test('isolated-2: other steps of a run continue while one of its steps waits for an hour (15.2)', async () => {
    expect((await app.call('fast', 'beside')).output).toBe(3)
  })

  test('code-process-1: a step may emit only the events that its module allows, and its result must be plain JSON (15.2)', async () => {
    expect(await failure('fast', 'emit')).toMatchObject({ code: 'MODULE_DENIED', message: /event other.made/ })
    expect(await failure('fast', 'date')).toMatchObject({ code: 'JSON_INVALID' })
  })

  test.each(['exit', 'loop', 'throw', 'fill', 'forge'])(
    'isolated-1, code-process-2: a lost process (%s) fails the attempt, and another process continues (15.2)',
    async (how) => {
      expect(await failure('crash', { how, where: 'step' })).toMatchObject({ code: 'MODULE_PROCESS_LOST' })
      expect((await app.call('crash', { how, where: 'second' })).output).toBe(2)
    },
  )

  test('code that ends its process between steps is started again three times at most (15.2)', async () => {
    expect(await failure('crash', { how: 'exit', where: 'code' })).toMatchObject({
      code: 'MODULE_PROCESS_LOST',
      message: expect.stringContaining('3 times in a row'),
    })
  })

  test.each([
    ['crash', { how: 'exit', where: 'once' }],
    ['charge', 'die'],
  ])('a once effect is uncertain when its process is lost: %s (15.2)', async (name, input) => {
    const run = await app.start(name, input)
    const task = await until(
      async () => (await app.tasks.ofStep(run, name === 'charge' ? 'main' : 'once').catch(() => null)) ?? null,
      (found) => found !== null,
      { what: 'the task that asks' },
    )
    expect(task).not.toBeNull()
    expect((await app.result(run, { wait: 0 })).status).not.toBe('failed')
    await app.cancel(run)
  })

  test('a cancel stops the body in its process, and the process is free again (15.2)', async () => {
    const run = await app.start('fast', 'wait')
    await until(
      async () => (await app.result(run, { wait: 0 })).status,
      (status) => status === 'running',
    )
    await app.cancel(run)
    expect((await app.result(run, { wait: '10s' })).status).toBe('cancelled')
    const pids = await Promise.all(Array.from({ length: 20 }, async () => (await app.call('fast', null)).output))
    // isolation-2
    expect(new Set(pids).size).toBeLessThanOrEqual(2)
  })
})

test('isolation-2: the host starts no more processes than its limit, and none after it has closed (15.2)', async () => {
  const { source } = await loadSystem(place.path, join(place.path, '.trihand/cache'))
  const other = await createTrihand({ system: source, database: 'memory:', isolation: { processes: 3 } })
  const pids = await Promise.all(
    Array.from({ length: 40 }, async () => (await other.call('fast', null)).output as number),
  )
  expect(new Set(pids).size).toBeLessThanOrEqual(3)
  await other.close()
  const lives = (pid: number): boolean => {
    try {
      process.kill(pid, 0)
      return true
    } catch {
      return false
    }
  }
  await until(
    () => [...new Set(pids)].filter(lives),
    (alive) => alive.length === 0,
  )
})

test("a module in TypeScript names its file, and its fetch goes through the host's guard (15.2)", async () => {
  const { startTestSystem } = await import('#testing/system.ts')
  expect(startTestSystem).toBeTypeOf('function')
  const system = defineSystem({
    name: 'typed',
    folder: place.path,
    modules: [
      {
        name: 'shop',
        isolation: 'process',
        functions: ['fast'],
        allow: { operations: ['api_call'], hosts: ['good.test'] },
      },
    ],
    functions: [fn('fast', { retry: { maxAttempts: 1 } }, { file: 'fast.js' })],
  })
  const typed = await createTrihand({ system, database: 'memory:' })
  expect((await typed.call('fast', null)).output).toBeTypeOf('number')
  // The local network is closed even for an allowed host.
  await typed.call('fast', (server.address() as AddressInfo).port)
  expect((await typed.call('fast', 'fetch')).error?.code).toMatch(/URL_BLOCKED|FETCH_FAILED/)
  await typed.close()
})

test.each([
  ['code that is no file', { code: (): number => 1 }, 'give the code as a file in its folder'],
  ['a file without isolation', { isolation: 'none', code: { file: 'a.ts' } }, 'give its module isolation: process'],
  ['a folder above', { folder: '../x', code: { file: 'a.ts' } }, 'not a folder of its own'],
  ['the whole folder', { folder: '.', code: { file: 'a.ts' } }, 'not a folder of its own'],
  ['a hidden folder', { folder: '.trihand', code: { file: 'a.ts' } }, 'not a folder of its own'],
  ['a file above the folder', { code: { file: '../a.ts' } }, 'PATH_ESCAPE'],
  ['a kind that does not exist', { isolation: 'container', code: { file: 'a.ts' } }, 'not one of process, none'],
  ['a folder for nothing', { isolation: 'none', folder: 'x', code: (): number => 1 }, 'only a module with isolation'],
])('%s is refused where the module is defined (15.2)', (_, { code, ...over }, said) => {
  const module = { name: 'm', isolation: 'process', functions: ['f'], ...over } as never
  expect(() => defineSystem({ name: 's', modules: [module], functions: [fn('f', {}, code as never)] })).toThrow(said)
})

test('a folder with a link that leads out of it is refused before any of its code runs (15.2)', async () => {
  const linked = fastFolder('linked')
  mkdirSync(join(linked.path, 'modules/m'), { recursive: true })
  writeFileSync(join(linked.path, 'modules/m/f.js'), 'export default () => 1')
  symlinkSync('/etc', join(linked.path, 'modules/m/out'))
  const system = defineSystem({
    ...{ name: 'linked', folder: linked.path, modules: [{ name: 'm', isolation: 'process', functions: ['f'] }] },
    functions: [fn('f', { retry: { maxAttempts: 1 } }, { file: 'f.js' })],
  })
  const linking = await createTrihand({ system, database: 'memory:' })
  expect((await linking.call('f', null)).error).toMatchObject({ code: 'LOAD_FAILED', message: /outside the folder/ })
  await linking.close()
  linked.remove()
})
