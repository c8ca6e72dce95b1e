/**
 * What the approver of a plan sees through every interface: chat card, page, command line, HTTP and MCP.
 *
 * A chat's model proposes a step under a harmless name. Every interface shows what the step does and with which literal inputs.
 */
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  axeFindings,
  axeFindingsInLight,
  startBrowser,
  type TestBrowser,
  type WatchedPage,
} from '#test/support/serving/browser.ts'
import { buildCommand, Folder, type Server } from '#test/support/serving/command.ts'
import { until } from '#test/support/until.ts'

const PLAN = {
  goal: 'Greet our friend',
  input: { note: 'for lunch' },
  steps: [
    { id: 'a', name: 'Say hello', assigned_to: 'transfer', inputs: { amount: 1_000_000, to: 'mallory' } },
    {
      id: 'b',
      name: 'Tell a friend',
      assigned_to: 'helper',
      // The script of a simulated model fills in templates itself, so these are expressions.
      inputs: { sent: { expr: 'steps.a.output.sent' }, note: { expr: 'payload.note' } },
      when: 'steps.a.output.sent > 0',
    },
  ],
}
const DECISION = { action: 'execute', reply: 'I say hello.', executor_type: 'plan', task: PLAN }
const SYSTEM = `import { agent, defineSystem, fn } from 'trihand'

export const system = defineSystem({
  name: 'bank',
  functions: [fn('transfer', { effect: 'once' }, ({ input }) => ({ sent: input.amount }))],
  agents: [
    agent('teller', { instructions: 'Help.' }),
    agent('helper', { instructions: 'Write.', allowedTools: ['Read'], limits: { maxCostUsd: 0.5 } }),
  ],
  scripts: { teller: { answers: [{ say: ${JSON.stringify(JSON.stringify(DECISION))} }] } },
  chats: [{ name: 'help', agent: 'teller', executors: ['plan'], asks: { users: ['ana'] } }],
})
`
const ANA = { 'x-trihand-user': 'ana' }

let browser: TestBrowser
let folder: Folder
let server: Server
let watched: WatchedPage
// biome-ignore lint/suspicious/noExplicitAny: a test looks into any document without ceremony
const ask = async (path: string): Promise<any> => (await fetch(`${server.url}${path}`, { headers: ANA })).json()

const send = async (method: string, path: string, body: object, headers: object = {}) => {
  const init = {
    method,
    body: JSON.stringify(body),
    headers: { ...ANA, 'content-type': 'application/json', ...headers },
  }
  const answer = await fetch(`${server.url}${path}`, init)
  // biome-ignore lint/suspicious/noExplicitAny: a test looks into any document without ceremony
  return { status: answer.status, body: (await answer.json()) as any }
}

let [task, plan, conversation] = ['', '', '']

beforeAll(async () => {
  buildCommand()
  folder = new Folder({ 'system.ts': SYSTEM })
  const serving = folder.serve(['dev'], { env: { TRIHAND_MODELS: 'simulated', PORT: '0' } })
  ;[browser, server] = await Promise.all([startBrowser(), serving])
  watched = await browser.open()
  const { page } = watched
  await page.addInitScript(`localStorage.setItem('trihand-me', '{"name": "ana", "groups": "operators"}')`)
  await page.goto(`${server.url}/chat`)
  await page.getByLabel('Your message', { exact: true }).fill('Say hello, please')
  await page.getByLabel('Your message', { exact: true }).press('Enter')
  await page.getByRole('button', { name: 'Approve and run', exact: true }).waitFor()
  const { items } = await until(
    () => ask('/api/tasks'),
    (found) => found.items.length === 1,
    { what: 'the plan waits for its approval' },
  )
  task = items[0].id
  conversation = page.url()
  plan = (await ask('/api/plans')).items[0].id
}, 180_000)
afterAll(async () => {
  await watched.close()
  await browser.close()
  await folder.remove()
})

/** Checked in plain text, for every interface. */
const shows = (text: string): void => {
  for (const what of [
    ...['amount', '1000000', 'mallory', 'calls the function transfer', 'Say hello', 'steps.a.output.sent'],
    ...['the output of step a', 'the input of the plan', '0.5', 'Read', 'only if steps.a.output.sent > 0', 'for lunch'],
    ...['once', 'model'],
  ])
    expect(text.toLowerCase()).toContain(what.toLowerCase())
}

const drawn = async (page: WatchedPage['page'], where: string): Promise<string> => {
  await page
    .getByText(/mallory/)
    .first()
    .waitFor()
  return (await page.locator(where).allInnerTexts()).join('\n')
}

test('[N3] the card in the chat shows operation, inputs, sources, effect, limit, and that a model chose the name (13.1.3)', async () => {
  const { page, faults } = watched
  shows(await drawn(page, '.plan'))
  expect(await page.getByText(/named by a model/).count()).toBeGreaterThan(0)
  expect([await axeFindings(page), await axeFindingsInLight(page)]).toEqual([[], []])
  expect(faults).toEqual([])
})

test('[N3] the page of the task and the page of the plan show the same (13.1.3)', async () => {
  const { page, faults } = watched
  await page.goto(`${server.url}/inbox?task=${task}`)
  shows(await drawn(page, 'main'))
  expect([await axeFindings(page), await axeFindingsInLight(page)]).toEqual([[], []])
  await page.goto(`${server.url}/plans/${plan}`)
  // Its input is given when it is started, and is not part of the plan.
  shows(`${await drawn(page, 'main')} for lunch`)
  expect([await axeFindings(page), await axeFindingsInLight(page)]).toEqual([[], []])
  expect(faults).toEqual([])
})

test('[N3] the command line, HTTP and MCP show the same (13.1.3)', async () => {
  const printed = await folder.run(['inbox', 'show', task, '--as', 'ana'])
  expect(printed).toMatchObject({ code: 0 })
  shows(printed.stdout)
  const [ofTask, ofPlan] = [await ask(`/api/tasks/${task}`), await ask(`/api/plans/${plan}`)]
  shows(JSON.stringify(ofTask.sections))
  shows(`${JSON.stringify(ofPlan.steps)} for lunch`)
  expect(ofPlan.steps[0]).toMatchObject({
    ...{
      name: 'Say hello',
      named_by: 'model',
      by: 'transfer',
      operation: 'calls the function transfer',
      effect: 'once',
    },
    inputs: [
      { path: 'amount', value: 1_000_000, from: [] },
      { path: 'to', value: 'mallory', from: [] },
    ],
  })
  const client = new Client({ name: 'test', version: '1' })
  await client.connect(new StreamableHTTPClientTransport(new URL('/mcp', server.url)))
  for (const [name, id] of [
    ['get_task', task],
    ['get_plan', plan],
  ] as const) {
    const { content } = await client.callTool({ name, arguments: { id } })
    const [said] = content as readonly { readonly text: string }[]
    shows(`${said?.text} for lunch`)
  }
  await client.close()
})

test('[N3] a plan that changed after it was rendered is not approved by the old rendering, through any interface (13.1.3)', async () => {
  const { page } = watched
  const before = await ask(`/api/plans/${plan}`)
  await page.goto(`${server.url}/plans/${plan}`)
  await page.getByRole('button', { name: 'Approve and run', exact: true }).waitFor()
  const raised = [{ ...PLAN.steps[0], inputs: { amount: 2_000_000, to: 'mallory' } }]
  const changed = await send('PUT', `/api/plans/${plan}`, { steps: raised }, { 'if-match': `"${before.version}"` })
  expect([changed.status, changed.body.steps[0].named_by]).toEqual([200, 'model'])
  const old = await send('POST', `/api/plans/${plan}/approve`, { hash: before.hash })
  expect([old.status, old.body.code]).toEqual([409, 'PLAN_STALE'])
  const shown = await folder.json(['inbox', 'show', task, '--as', 'ana'])
  await folder.json(['inbox', 'approve', task, '--as', 'ana', '--hash', shown.shown_hash])
  await page.goto(conversation)
  await page
    .getByText(/PLAN_STALE/)
    .first()
    .waitFor()
  const { items } = await ask('/api/runs')
  expect(items.map(({ handler }: { readonly handler: string }) => handler)).not.toContain('transfer')
  expect(await ask(`/api/plans/${plan}`)).toMatchObject({ status: 'draft', approval: null })
})
