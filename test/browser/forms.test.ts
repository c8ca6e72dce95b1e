/** What a task asks for, as a form; and what it is about, always in sight. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { axeFindings, axeFindingsInLight, startBrowser, type TestBrowser } from '../support/browser.ts'
import { Desk } from '../support/desk.ts'

let browser: TestBrowser
let desk: Desk

beforeAll(async () => {
  ;[browser, desk] = await Promise.all([startBrowser(), Desk.open()])
})
afterAll(async () => {
  await browser.close()
  await desk.close()
})

test('[C3] a task without items shows its context, and its answer is a form from the schema that says in place what is wrong (13.1.4)', async () => {
  await desk.trihand.send({ type: 'budget.asked', data: { team: 'Research' } })
  const id = await desk.taskOf('Budget of Research')
  const { page, faults, close } = await desk.page(
    browser,
    { name: 'ana', groups: 'editors' },
    `/inbox?view=open&task=${id}`,
  )
  const context = page.getByRole('region', { name: 'Context', exact: true })
  await context.getByText('Research', { exact: true }).waitFor()
  await context.getByText('900', { exact: true }).waitFor()
  expect(await axeFindings(page)).toEqual([])
  await page.locator('.actions').getByRole('button', { name: 'Respond', exact: true }).click()
  const dialog = page.getByRole('dialog', { name: 'Respond: Budget of Research', exact: true })
  await dialog.getByLabel('amount').fill('0')
  await dialog.getByLabel('level').selectOption('high')
  await dialog.getByRole('button', { name: 'Respond', exact: true }).click()
  await dialog.getByText('amount must be at least 1', { exact: true }).waitFor()
  await dialog.getByText('due is required', { exact: true }).waitFor()
  await dialog.getByText('owner › name is required', { exact: true }).waitFor()
  expect(await axeFindings(page, '[role=dialog]')).toEqual([])
  await dialog.getByLabel('amount').fill('950.5')
  await dialog.getByLabel('due').fill('2026-12-31')
  await dialog.getByLabel('urgent').check()
  await dialog.getByLabel('owner › name').fill('Bea')
  await page.setViewportSize({ width: 390, height: 800 })
  expect(await axeFindingsInLight(page, '[role=dialog]')).toEqual([])
  await dialog.getByRole('button', { name: 'Respond', exact: true }).click()
  await dialog.waitFor({ state: 'detached' })
  expect(await desk.ask(`/api/tasks/${id}`)).toMatchObject({
    status: 'completed',
    end: {
      decided_by: 'ana',
      fields: { amount: 950.5, level: 'high', due: '2026-12-31', urgent: true, owner: { name: 'Bea' } },
    },
  })
  await page.goto(`${desk.url}/inbox?view=done&task=${id}`)
  await page.getByText('Answered by ana', { exact: true }).waitFor()
  await page.getByText('950.5', { exact: true }).waitFor()
  expect(faults).toEqual([])
  await close()
})
