/** A task as a form; and its context, always visible. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { Desk } from '#test/support/desk.ts'
import { axeFindings, axeFindingsInLight, startBrowser, type TestBrowser } from '#test/support/serving/browser.ts'

let browser: TestBrowser
let desk: Desk

beforeAll(async () => {
  ;[browser, desk] = await Promise.all([startBrowser(), Desk.open()])
})
afterAll(async () => {
  await browser.close()
  await desk.close()
})

test('[C3] a task without items shows its context, and its answer is a form from the schema that shows errors in place (13.1.4)', async () => {
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

const ANA = { name: 'ana', groups: 'editors' }

const opened = async (title: string) => {
  const id = await desk.taskOf(title)
  return { id, ...(await desk.page(browser, ANA, `/inbox?view=open&task=${id}`)) }
}

test('[C3] a decision without items shows its context above the buttons, and a field that is only required by name is shown (13.1.4)', async () => {
  await desk.trihand.send({
    type: 'offer.made',
    data: {
      title: 'of Northwind',
      offer: { price: 1200, terms: '<img src="x" onerror="alert(1)"><script>alert(2)</script>' },
    },
  })
  const { id, page, faults, close } = await opened('Offer of Northwind')
  const context = page.getByRole('region', { name: 'Context', exact: true })
  await context.getByText('1200', { exact: true }).waitFor()
  // Markup is text.
  await context.getByText('<img src="x" onerror="alert(1)"><script>alert(2)</script>', { exact: true }).waitFor()
  expect(await context.locator('img, script').count()).toBe(0)
  const haggle = page.locator('.actions').getByRole('button', { name: 'Haggle', exact: true })
  const [above, below] = await Promise.all([context.boundingBox(), haggle.boundingBox()])
  expect((above?.y ?? 0) + (above?.height ?? 0)).toBeLessThanOrEqual(below?.y ?? 0)
  await haggle.click()
  const dialog = page.getByRole('dialog', { name: 'Haggle: Offer of Northwind', exact: true })
  await dialog.getByRole('button', { name: 'Haggle', exact: true }).click()
  await dialog.getByText('price is required', { exact: true }).waitFor()
  await dialog.getByLabel('price').fill('1000')
  await dialog.getByRole('button', { name: 'Haggle', exact: true }).click()
  await dialog.waitFor({ state: 'detached' })
  expect(await desk.ask(`/api/tasks/${id}`)).toMatchObject({ end: { decision: 'haggle', fields: { price: '1000' } } })
  expect(faults).toEqual([])
  await close()
})

test('[C3] a context of a megabyte is shown, and its buttons stay in reach (13.1.4)', async () => {
  await desk.trihand.start('ask-at-length', {})
  const { id, page, faults, close } = await opened('Offer at length')
  const context = page.getByRole('region', { name: 'Context', exact: true })
  await context.getByText('the last line', { exact: true }).waitFor()
  const approve = page.locator('.actions').getByRole('button', { name: 'Approve', exact: true })
  const box = await approve.boundingBox()
  expect(box?.y ?? Number.POSITIVE_INFINITY).toBeLessThan(800)
  await approve.click()
  const dialog = page.getByRole('dialog', { name: 'Approve: Offer at length', exact: true })
  await dialog.getByRole('button', { name: 'Approve', exact: true }).click()
  await dialog.waitFor({ state: 'detached' })
  expect(await desk.ask(`/api/tasks/${id}`)).toMatchObject({ end: { decision: 'approve' } })
  expect(faults).toEqual([])
  await close()
})

test('[C3] lists of objects, choices, lists of texts, defaults and instants are fields of the form (13.1.4)', async () => {
  await desk.trihand.send({ type: 'order.asked', data: { title: 'of tea' } })
  const { id, page, faults, close } = await opened('Order of tea')
  await page.locator('.actions').getByRole('button', { name: 'Respond', exact: true }).click()
  const dialog = page.getByRole('dialog', { name: 'Respond: Order of tea', exact: true })
  const respond = dialog.getByRole('button', { name: 'Respond', exact: true })
  expect(await dialog.getByLabel('pieces_per_box').inputValue()).toBe('6')
  await respond.click()
  await dialog.getByText('lines must have at least 1 row', { exact: true }).waitFor()
  const add = dialog.getByRole('button', { name: 'Add to lines', exact: true })
  await add.click()
  await add.click()
  const [first, second] = [1, 2].map((n) => dialog.getByRole('group', { name: `lines ${n}`, exact: true }))
  if (first === undefined || second === undefined) throw new Error('there are two rows')
  await first.getByLabel('article').fill('Tea')
  await first.getByLabel('pieces').fill('0')
  await second.getByLabel('article').fill('Milk')
  await dialog.getByLabel('contact › mail').fill('bea@example.com')
  await respond.click()
  await first.getByText('pieces must be at least 1', { exact: true }).waitFor()
  await second.getByText('pieces is required', { exact: true }).waitFor()
  await dialog.getByText('contact › name is required', { exact: true }).waitFor()
  expect(await axeFindings(page, '[role=dialog]')).toEqual([])
  await first.getByLabel('pieces').fill('3')
  await second.getByRole('button', { name: 'Remove lines 2', exact: true }).click()
  await second.waitFor({ state: 'detached' })
  await dialog.getByLabel('phone').check()
  await dialog.getByLabel('mail', { exact: true }).check()
  await dialog.getByLabel('at', { exact: true }).fill('2026-12-31T14:00')
  await dialog.getByLabel('remarks (one per line)').fill('strong\nhot')
  await dialog.getByLabel('contact › name').fill('Bea')
  await page.setViewportSize({ width: 390, height: 800 })
  expect(await axeFindingsInLight(page, '[role=dialog]')).toEqual([])
  await respond.click()
  await dialog.waitFor({ state: 'detached' })
  expect(await desk.ask(`/api/tasks/${id}`)).toMatchObject({
    end: {
      fields: {
        lines: [{ article: 'Tea', pieces: 3 }],
        channels: ['mail', 'phone'],
        pieces_per_box: 6,
        remarks: ['strong', 'hot'],
        contact: { name: 'Bea', mail: 'bea@example.com' },
        at: expect.stringMatching(/^2026-1\d-\d\dT\d\d:00:00/),
      },
    },
  })
  expect(faults).toEqual([])
  await close()
})
