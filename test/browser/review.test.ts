/** People at their inboxes in a real browser, by keyboard where possible: views, bulk decisions, marks by rule, and concurrent decisions. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { Desk, letters } from '#test/support/desk.ts'
import { axeFindings, press, startBrowser, type TestBrowser, type WatchedPage } from '#test/support/serving/browser.ts'
import { until } from '#test/support/until.ts'

let browser: TestBrowser
let desk: Desk

beforeAll(async () => {
  ;[browser, desk] = await Promise.all([startBrowser(), Desk.open()])
})
afterAll(async () => {
  await browser.close()
  await desk.close()
})

const opened = (name: string, path: string, groups = 'editors'): Promise<WatchedPage> =>
  desk.page(browser, { name, groups }, path)

const rowOf = ({ page }: WatchedPage, id: string) => page.locator(`[data-row][data-id=${id}]`)

test('[C2][C8] views have counts and their own address; a postponed task is in Later until it is taken up again', async () => {
  const id = await desk.asks('letters.ready', 'Put off')
  const watched = await opened('vera', `/inbox?task=${id}`)
  const { page, faults, close } = watched
  await page.getByText('0/3 reviewed', { exact: true }).waitFor()
  expect(await axeFindings(page)).toEqual([])
  await page.getByRole('button', { name: 'Postpone', exact: true }).focus()
  await press(page, 'Enter')
  await page.getByRole('menuitem', { name: 'Tomorrow at 8', exact: true }).click()
  await rowOf(watched, id).waitFor({ state: 'detached' })
  const later = page
    .getByRole('navigation', { name: 'Views', exact: true })
    .getByRole('link', { name: 'Postponed 1', exact: true })
  await later.click()
  await page.waitForURL(/view=later/)
  await rowOf(watched, id).click()
  await page.getByRole('button', { name: 'Move to inbox', exact: true }).click()
  await page.getByText('No postponed tasks.', { exact: true }).waitFor()
  await press(page, '!')
  await page
    .getByRole('dialog', { name: /^Escalate: / })
    .getByRole('textbox', { name: 'Reason', exact: true })
    .fill('too hard for me')
  await press(page, 'ControlOrMeta+Enter')
  await page.getByRole('link', { name: 'Escalated 1', exact: true }).click()
  await page.waitForURL(/view=escalated/)
  await rowOf(watched, id).getByText('too hard for me', { exact: true }).waitFor()
  expect(await axeFindings(page)).toEqual([])
  expect(faults).toEqual([])
  await close()
})

test('[C16] x selects tasks, and one action decides them all, with a verdict for each', async () => {
  const ids = [await desk.asks('letters.ready', 'Bulk one'), await desk.asks('letters.ready', 'Bulk two')]
  const watched = await opened('olga', '/inbox?view=mine')
  const { page, faults, close } = watched
  for (const id of ids) {
    await rowOf(watched, id).focus()
    await press(page, 'x')
  }
  await page.getByText('2 selected', { exact: true }).waitFor()
  expect(await axeFindings(page)).toEqual([])
  await page.getByRole('button', { name: 'Decide', exact: true }).focus()
  await press(page, 'Enter')
  const dialog = page.getByRole('dialog', { name: 'Decide 2 tasks', exact: true })
  const reject = dialog.getByRole('button', { name: 'Reject 2', exact: true })
  await reject.waitFor()
  expect(await reject.isDisabled()).toBe(true)
  await dialog.getByLabel('Reason').fill('all of them too late')
  expect(await axeFindings(page, '[role=dialog]')).toEqual([])
  // Another person decides one of them at this moment.
  await desk.decide(ids[1] ?? '', 'bob', { action: 'approve' })
  await reject.click()
  const verdicts = dialog.getByRole('list', { name: 'Results', exact: true })
  await verdicts.getByText('rejected', { exact: true }).waitFor()
  await verdicts.getByText('TASK_CLOSED', { exact: true }).waitFor()
  await verdicts.getByText(/bob closed the task with approve/).waitFor()
  expect(await desk.ask(`/api/tasks/${ids[0]}`)).toMatchObject({
    end: { feedback: 'all of them too late', decided_by: 'olga' },
  })
  expect(faults).toEqual([])
  await close()
})

test('[C13][C17] a rule marks and never submits; a submit of many items asks for their number', async () => {
  const id = await desk.asks('letters.ready', 'Many', letters(30))
  const { page, faults, close } = await opened('rita', `/inbox?task=${id}`)
  await page.getByText('0/30 reviewed', { exact: true }).waitFor()
  await page.getByRole('button', { name: 'Select by rule', exact: true }).focus()
  await press(page, 'Enter')
  const rule = page.getByRole('textbox', { name: 'Condition', exact: true })
  await rule.fill('item.confidence >')
  await press(page, 'Enter')
  await page.getByText(/in "item.confidence >"/).waitFor()
  await rule.fill('item.confidence >= 0.9')
  await press(page, 'Enter')
  await page.getByText('15 items match.', { exact: true }).waitFor()
  await page.getByText('15/30 reviewed', { exact: true }).waitFor()
  expect(await axeFindings(page)).toEqual([])
  await press(page, 'ControlOrMeta+Enter')
  await page.getByText(/^15 not reviewed: this action applies to them/).waitFor()
  await press(page, 'Escape')
  await page.getByRole('dialog', { name: /^Approve: / }).waitFor({ state: 'detached' })
  await press(page, 'u')
  await page.getByText('0/30 reviewed', { exact: true }).waitFor()
  await press(page, 'Shift+A')
  await page.getByText('30/30 reviewed', { exact: true }).waitFor()
  await press(page, 'ControlOrMeta+Enter')
  const dialog = page.getByRole('dialog', { name: /^Approve: / })
  await dialog.getByText(/30 approved items/).waitFor()
  await dialog.getByText(/post-letters/).waitFor()
  const number = dialog.getByLabel(/Type the number/)
  await number.fill('29')
  await press(page, 'ControlOrMeta+Enter')
  expect(await desk.ask(`/api/tasks/${id}`)).toMatchObject({ is_open: true })
  await number.fill('30')
  expect(await axeFindings(page, '[role=dialog]')).toEqual([])
  await press(page, 'ControlOrMeta+Enter')
  await dialog.waitFor({ state: 'detached' })
  expect(await desk.ask(`/api/tasks/${id}`)).toMatchObject({ is_open: false, status: 'approved' })
  // An invalid rule.
  expect(faults).toEqual([expect.stringContaining('422')])
  await close()
})

test('[C9] the next task opens automatically, and the last reason is offered as a chip', async () => {
  const [second, first] = [await desk.asks('letters.ready', 'Next B'), await desk.asks('letters.ready', 'Next A')]
  const { page, faults, close } = await opened('nina', `/inbox?view=mine&task=${first}`)
  await page.getByRole('heading', { level: 2, name: 'Next A', exact: true }).waitFor()
  await page.locator(`[data-row][data-id=${second}]`).waitFor()
  const reject = page.locator('.actions').getByRole('button', { name: 'Reject', exact: true })
  await reject.click()
  await page
    .getByRole('dialog', { name: /^Reject: / })
    .getByRole('textbox', { name: 'Reason', exact: true })
    .fill('wrong tone')
  await press(page, 'ControlOrMeta+Enter')
  await page.getByRole('heading', { level: 2, name: 'Next B', exact: true }).waitFor()
  await page.waitForURL(new RegExp(second))
  await reject.click()
  await page
    .getByRole('group', { name: 'Recent reasons', exact: true })
    .getByRole('button', { name: 'wrong tone', exact: true })
    .click()
  expect(
    await page
      .getByRole('dialog', { name: /^Reject: / })
      .getByRole('textbox', { name: 'Reason', exact: true })
      .inputValue(),
  ).toBe('wrong tone')
  expect(await axeFindings(page, '[role=dialog]')).toEqual([])
  expect(faults).toEqual([])
  await close()
})

test('[C14] changes since a task was opened are shown before it is decided, and the marks stay', async () => {
  const id = await desk.asks('release.ready', 'Changing')
  const { page, faults, close } = await opened('cora', `/inbox?task=${id}`)
  await page.getByText('0/3 reviewed', { exact: true }).waitFor()
  await press(page, 'a')
  await page.getByText('1/3 reviewed', { exact: true }).waitFor()
  const [letter] = letters(1)
  const items = { l2: { status: 'edited', modifications: { ...letter, id: 'l2', text: 'Dear friend' } } }
  await desk.decide(id, 'bob', { action: 'edit', items })
  const notice = page.getByRole('alert').filter({ hasText: 'Changed since you opened it' })
  await notice.locator('ins', { hasText: 'friend' }).waitFor()
  await page.getByText('1/3 reviewed', { exact: true }).waitFor()
  expect(await axeFindings(page)).toEqual([])
  await notice.getByRole('button', { name: 'Dismiss', exact: true }).click()
  await notice.waitFor({ state: 'detached' })
  await page.getByRole('button', { name: 'History', exact: true }).click()
  await page
    .getByRole('list', { name: 'History', exact: true })
    .getByText(/edited l2/)
    .waitFor()
  expect(faults).toEqual([])
  await close()
})

test('[C5] the person who decided first is named, in the dialog and on the task', async () => {
  const id = await desk.asks('letters.ready', 'Contested')
  const { page, close } = await opened('lena', `/inbox?task=${id}`)
  await page.getByText('0/3 reviewed', { exact: true }).waitFor()
  await press(page, 'a')
  await page.getByText('Draft saved', { exact: true }).waitFor()
  await press(page, 'ControlOrMeta+Enter')
  const dialog = page.getByRole('dialog', { name: /^Approve: / })
  await dialog.getByLabel('Reason').waitFor()
  await desk.decide(id, 'bob', { action: 'reject', reason: 'not these' })
  await press(page, 'ControlOrMeta+Enter')
  await dialog.getByText('Rejected by bob', { exact: true }).waitFor()
  await dialog.getByText('not these', { exact: true }).waitFor()
  await dialog.getByText('What you typed was not submitted.', { exact: true }).waitFor()
  await press(page, 'Escape')
  await page.getByText('bob decided first. Your draft was not submitted.', { exact: true }).waitFor()
  expect(await axeFindings(page)).toEqual([])
  await close()
})

test('[R6] an uncertain step asks whether it happened, and looks like no other task', async () => {
  await desk.trihand.start('pay', {})
  const id = await desk.taskOf('Did it happen? charge')
  const { page, faults, close } = await opened('otto', `/inbox?task=${id}`, 'operators')
  await page.getByRole('alert').getByText('Did it happen?', { exact: true }).waitFor()
  await page.getByText('idempotency_key', { exact: true }).waitFor()
  expect(await axeFindings(page)).toEqual([])
  await page.getByRole('button', { name: 'It happened', exact: true }).click()
  const dialog = page.getByRole('dialog', { name: /^It happened: / })
  await dialog.getByLabel('Step result').fill('{"receipt": 7}')
  await dialog.getByLabel('Type charge to confirm').fill('charge')
  expect(await axeFindings(page, '[role=dialog]')).toEqual([])
  await dialog.getByRole('button', { name: 'It happened', exact: true }).click()
  await dialog.waitFor({ state: 'detached' })
  const { run_id } = await desk.ask<{ readonly run_id: string }>(`/api/tasks/${id}`)
  const { output } = await until(
    () => desk.ask<{ readonly status: string; readonly output: unknown }>(`/api/runs/${run_id}`),
    ({ status }) => status === 'success',
    { what: 'the run goes on' },
  )
  expect(output).toEqual({ receipt: 7 })
  expect(faults).toEqual([])
  await close()
})

test('a browser with notifications on reports a new task once, and no old one', async () => {
  await desk.asks('letters.ready', 'Old news')
  const { page, faults, tab, close } = await opened('nora', '/settings')
  await page.context().grantPermissions(['notifications'])
  const record = `globalThis.told = []; globalThis.Notification = class { static permission = 'granted'
    static requestPermission = async () => 'granted'
    constructor(title, { body }) { globalThis.told.push(body) } }`
  await page.addInitScript(record)
  await page.reload()
  await page.locator('[data-live=true]').waitFor()
  const isAsked = page.waitForResponse((response) => response.url().endsWith('/api/tasks?limit=50'))
  await page.getByRole('switch', { name: /^Desktop notifications/ }).click()
  await isAsked
  // A second tab receives it, too, and shows nothing.
  const other = await tab()
  await other.addInitScript(record)
  await other.goto(`${desk.url}/inbox`)
  await other.locator('[data-live=true]').waitFor()
  await desk.asks('letters.ready', 'Fresh news')
  const told = () => page.evaluate('globalThis.told')
  await until(told, (list) => (list as string[]).length > 0, { what: 'the browser tells' })
  await other.getByText('Fresh news', { exact: true }).waitFor()
  expect([await told(), await other.evaluate('globalThis.told')]).toEqual([['Fresh news'], []])
  expect(faults).toEqual([])
  await close()
})
