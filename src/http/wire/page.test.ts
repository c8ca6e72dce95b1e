/** The status page: its content, and that no data on it is executed. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { fn } from '#executors/workflow/function.ts'
import { type HttpApp, openApp } from '#test/support/serving/http-app.ts'

const HOSTILE = [
  '<script>alert(1)</script>',
  '"><img src=x onerror=alert(1)>',
  "' onmouseover='alert(1)",
  '</code></pre><iframe src=//evil.example>',
  '&lt;b&gt; {{7*7}}',
]

let app: HttpApp
beforeAll(async () => {
  app = await openApp({
    name: 'shop <b>',
    events: { 'order.placed': null },
    functions: [
      fn('ship', { trigger: 'order.placed' }, async ({ step }) => {
        await step.waitForEvent('payment', { event: 'order.paid', match: 'payload.text' })
      }),
    ],
  })
})
afterAll(() => app.close())

describe('the page', () => {
  test('suggests a command while the ledger is empty', async () => {
    const { status, headers, text } = await app.ask('/')
    expect(status).toBe(200)
    expect(headers.get('content-type')).toMatch(/^text\/html/)
    expect(text).toContain('No run yet.')
    expect(text).toContain('npx trihand send order.placed')
  })

  test('shows a run with its function, its status and what it waits for', async () => {
    const run = await app.started('order.placed', { text: 'a lamp' })
    await app.when(run, 'waiting')
    const { text } = await app.ask('/')
    expect(text).toContain(`run_${run.slice(-8)}`)
    expect(text).toContain(`/api/runs/${run}`)
    expect(text).toContain('<span class="status waiting">waiting</span>')
    expect(text).toContain('payment: an event: order.paid with text = &quot;a lamp&quot;')
  })

  test.each(HOSTILE)('[S8] escapes data: %s', async (hostile) => {
    const run = await app.started('order.placed', { text: hostile })
    await app.when(run, 'waiting')
    const { text } = await app.ask('/')
    const elements = [...text.matchAll(/<([a-z0-9]+)[\s>]/gi)].map((match) => match[1])
    expect(new Set(elements)).toEqual(
      new Set([
        'html',
        'head',
        'meta',
        'title',
        'style',
        'body',
        'main',
        'header',
        'h1',
        'p',
        'nav',
        'a',
        'ul',
        'li',
        'span',
        'section',
        'h2',
        'div',
        'table',
        'thead',
        'tr',
        'th',
        'tbody',
        'td',
        'code',
        'pre',
      ]),
    )
    expect(text).not.toMatch(/<[^>]*\son\w+=/i)
  })

  test('[S8] has a policy that allows only its style, under a nonce that is new each time', async () => {
    const policyOf = async () => (await app.ask('/')).headers.get('content-security-policy') ?? ''
    const { headers, text } = await app.ask('/')
    const policy = headers.get('content-security-policy') ?? ''
    const nonce = /style-src 'nonce-([\w-]{16,})'/.exec(policy)?.[1]
    expect(policy).toContain("default-src 'none'")
    expect(policy).toContain("frame-ancestors 'none'")
    expect(policy).not.toContain('unsafe')
    expect(text).toContain(`<style nonce="${nonce}">`)
    expect(await policyOf()).not.toBe(await policyOf())
  })

  test('has no script and no form, and loads nothing from elsewhere', async () => {
    const { text } = await app.ask('/')
    expect(text).not.toMatch(/<script|<form|<link|https?:\/\/|url\(/)
  })
})
