/** `trihand mcp` as a client program starts it: the real client, a real pipe, with and without a running server. */
import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { buildCommand, COMMAND, Folder } from '#test/support/serving/command.ts'

const SYSTEM = `import { defineSystem, fn } from 'trihand'

export const system = defineSystem({
  name: 'sums',
  functions: [fn('add', {}, async ({ input }) => input.a + 1)],
})
`

beforeAll(buildCommand, 120_000)

let folder: Folder
beforeEach(() => {
  folder = new Folder({ 'system.ts': SYSTEM })
})
afterEach(() => folder.remove())

const connected = async (): Promise<Client> => {
  const client = new Client({ name: 'test', version: '1' })
  await client.connect(
    new StdioClientTransport({ command: process.execPath, args: [COMMAND, 'mcp'], cwd: folder.path, stderr: 'pipe' }),
  )
  return client
}

const call = async (client: Client, name: string, given: Record<string, unknown>) => {
  const { content } = await client.callTool({ name, arguments: given })
  const [said] = content as readonly { readonly text: string }[]
  return JSON.parse(said?.text ?? 'null')
}

test('without a server it opens the ledger of the folder and performs the runs itself', async () => {
  const client = await connected()
  const { id } = await call(client, 'start_run', { name: 'add', input: { a: 1 } })
  expect(await call(client, 'wait_run', { id })).toMatchObject({ status: 'success', output: 2 })
  await client.close()
})

test('beside a server it forwards calls to the server, and reports its refusals', async () => {
  const server = await folder.serve(['dev', '--port', '0'])
  const client = await connected()
  const { id } = await call(client, 'start_run', { name: 'add', input: { a: 41 } })
  expect(await call(client, 'wait_run', { id })).toMatchObject({ status: 'success', output: 42 })
  expect(await (await fetch(`${server.url}/api/runs/${id}`)).json()).toMatchObject({ output: 42 })
  expect(await call(client, 'get_run', { id: 'run_nobody' })).toMatchObject({ code: 'NOT_FOUND' })
  await client.close()
})
