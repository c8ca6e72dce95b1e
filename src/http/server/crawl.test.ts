/** A scanner that opens every link: GET and HEAD change nothing, however often they are sent. */
import { expect, test } from 'vitest'
import { human } from '#manifest/human/humans.ts'
import { openApp } from '#test/support/serving/http-app.ts'
import { until } from '#test/support/until.ts'

test('app-2: every GET and HEAD with every kind of id, sent twice, writes nothing', async () => {
  const review = human('review', { trigger: 'letter.ready', title: 'Letter', assign: 'user:ana' })
  const app = await openApp({ name: 'letters', events: { 'letter.ready': null }, humans: [review] })
  const run = await app.started('letter.ready')
  const { body } = await until(
    () => app.ask('/api/tasks'),
    (answer) => answer.body.items.length === 1,
    { what: 'the task is there' },
  )
  const session = await app.trihand.sessions.create()
  // Stops the worker, so that any write from here on is caused by a read.
  await app.trihand.fleet.order('drain', app.trihand.worker.id)
  await app.trihand.drained
  const written: unknown[] = []
  const forget = app.trihand.subscribe('changes', (change) => written.push(change))
  const { paths } = (await app.ask('/openapi.json')).body
  const links = Object.entries<object>(paths).flatMap(([path, methods]) =>
    'get' in methods ? [run, body.items[0].id, session].map((id) => path.replaceAll(/\{\w+\}/g, id)) : [],
  )
  expect(links.length).toBeGreaterThan(60)
  for (const path of [...links, ...links])
    for (const method of ['GET', 'HEAD']) {
      const response = await app.open(path, { method, headers: { 'x-trihand-user': 'ana', accept: 'text/html' } })
      await response.body?.cancel()
      // A system that is being stopped may answer that it is not ready.
      if (!path.startsWith('/health')) expect([path, response.status < 500]).toEqual([path, true])
    }
  expect(written).toEqual([])
  forget()
  await app.close()
})
