/**
 * A test system for the web app: people who review letters and releases, a payment with an uncertain outcome, on a server in this process.
 *
 * Owns the system and its server. A page names its person itself, because loopback needs no login.
 */
import { join } from 'node:path'
import { createTrihand, type Trihand } from '#compose/assemble.ts'
import { fn } from '#executors/workflow/function.ts'
import { createApp } from '#http/server/app.ts'
import { type Listening, listen } from '#http/server/server.ts'
import { readWebApp } from '#http/web-app.ts'
import { human } from '#manifest/human/humans.ts'
import type { TestBrowser, WatchedPage } from '#test/support/serving/browser.ts'
import { PROJECT } from './places.ts'
import { until } from './until.ts'

const bundle = {
  sections: [{ id: 'letters', type: 'review_items' as const, items: { expr: 'payload.letters' }, editable: true }],
}

const SYSTEM = {
  name: 'desk',
  events: {
    ...{ 'letters.ready': null, 'letters.approved': null, 'release.ready': null, 'budget.asked': null },
    ...{ 'offer.made': null, 'order.asked': null },
  },
  humans: [
    human('review-letters', {
      trigger: 'letters.ready',
      title: '{{ payload.title }}',
      context: { campaign: '{{ payload.title }}' },
      assign: 'group:editors',
      priority: 2,
      deadline: '48h',
      escalation: [{ to: ['group:editors', 'user:cfo'] }],
      actions: [{ name: 'approve', emitsEvent: 'letters.approved' }, 'reject', 'reassign', 'escalate'],
      bundle,
    }),
    human('budget', {
      trigger: 'budget.asked',
      taskType: 'input',
      title: 'Budget of {{ payload.team }}',
      context: { team: '{{ payload.team }}', last_year: { amount: 900, spent: [400, 480] } },
      assign: 'group:editors',
      outputSchema: {
        type: 'object',
        properties: {
          amount: { type: 'number', minimum: 1, description: 'In euros' },
          level: { enum: ['low', 'high'] },
          due: { type: 'string', format: 'date' },
          urgent: { type: 'boolean' },
          owner: { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] },
        },
        required: ['amount', 'due', 'owner'],
      },
    }),
    human('offer', {
      trigger: 'offer.made',
      taskType: 'decision',
      title: 'Offer {{ payload.title }}',
      context: { offer: { expr: 'payload.offer' } },
      assign: 'group:editors',
      actions: ['approve', { name: 'haggle', label: 'Haggle', terminal: true, requiredFields: ['price'] }, 'reject'],
    }),
    human('order', {
      trigger: 'order.asked',
      taskType: 'input',
      title: 'Order {{ payload.title }}',
      context: { title: '{{ payload.title }}' },
      assign: 'group:editors',
      outputSchema: {
        type: 'object',
        properties: {
          lines: { type: 'array', minItems: 1, items: { $ref: '#/$defs/line' }, description: 'What is bought' },
          channels: { type: 'array', items: { enum: ['mail', 'phone'] } },
          at: { type: 'string', format: 'date-time' },
          pieces_per_box: { type: 'integer', default: 6 },
          remarks: { type: 'array', items: { type: 'string' } },
          contact: {
            type: 'object',
            properties: { name: { type: 'string' }, mail: { type: 'string', format: 'email' } },
            required: ['name'],
          },
        },
        $defs: {
          line: {
            type: 'object',
            properties: { article: { type: 'string' }, pieces: { type: 'integer', minimum: 1 } },
            required: ['article', 'pieces'],
          },
        },
        required: ['lines'],
      },
    }),
    human('release', {
      trigger: 'release.ready',
      title: '{{ payload.title }}',
      assign: 'group:editors',
      quorum: { approve: 2 },
      actions: ['approve', 'edit', 'reject'],
      bundle,
    }),
  ],
  functions: [
    fn('post-letters', { trigger: 'letters.approved' }, () => null),
    fn('ask-at-length', {}, ({ step }) =>
      step.human('long', {
        taskType: 'decision',
        title: 'Offer at length',
        context: { words: 'many words '.repeat(95_000), end: 'the last line' },
        assign: 'group:editors',
        actions: ['approve', 'reject'],
      }),
    ),
    fn('pay', {}, ({ step }) =>
      step.run(
        'charge',
        () => {
          throw new Error('connection lost')
        },
        { effect: 'once' },
      ),
    ),
  ],
}

export interface Letter {
  readonly id: string
  readonly title: string
  readonly text: string
  readonly confidence?: number
}

export const letters = (count: number): readonly Letter[] =>
  Array.from({ length: count }, (_, i) => ({
    id: `l${i + 1}`,
    title: `Letter ${i + 1}`,
    text: `Dear reader ${i + 1}`,
    confidence: i % 2 === 0 ? 0.95 : 0.4,
  }))

export class Desk {
  readonly trihand: Trihand
  readonly #server: Listening
  readonly #ending: AbortController

  private constructor(trihand: Trihand, server: Listening, ending: AbortController) {
    this.trihand = trihand
    this.#server = server
    this.#ending = ending
  }

  static async open(): Promise<Desk> {
    const trihand = await createTrihand({ system: SYSTEM, database: 'memory:', drain: 100 })
    const ending = new AbortController()
    const app = createApp(trihand, {
      ...{ version: '0', pid: 1, report: () => {}, ending: ending.signal },
      webApp: readWebApp(join(PROJECT, 'dist/ui')),
    })
    return new Desk(trihand, await listen({ fetch: (request) => app.fetch(request), port: 0 }), ending)
  }

  get url(): string {
    return this.#server.url
  }

  async close(): Promise<void> {
    this.#ending.abort()
    await this.#server.stop()
    await this.trihand.close()
  }

  /** Sends the event and returns the task that it leads to, found by its title because others may be in the inbox. */
  async asks(type: 'letters.ready' | 'release.ready', title: string, items = letters(3)): Promise<string> {
    await this.trihand.send({ type, data: { title, letters: items } })
    return this.taskOf(title)
  }

  async taskOf(title: string): Promise<string> {
    const find = async () => {
      const { items } = await this.ask<{ items: { id: string; title: string }[] }>('/api/tasks?all=true&limit=200')
      return items.find((task) => task.title.includes(title))?.id
    }
    return (await until(find, (id) => id !== undefined, { what: `${title} is asked` })) ?? ''
  }

  async ask<Body>(path: string): Promise<Body> {
    return (await (await fetch(`${this.url}${path}`)).json()) as Body
  }

  /** Decides as another person, over HTTP. */
  async decide(task: string, by: string, decision: object): Promise<void> {
    const { shown_hash } = await this.ask<{ readonly shown_hash: string }>(`/api/tasks/${task}`)
    const answer = await fetch(`${this.url}/api/tasks/${task}/decision`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-trihand-user': by, 'x-trihand-groups': 'editors' },
      body: JSON.stringify({ shown_hash, ...decision }),
    })
    if (!answer.ok) throw new Error(await answer.text())
  }

  /** Opens a page for a person whose name is already stored. */
  async page(
    browser: TestBrowser,
    who: { readonly name: string; readonly groups: string },
    path: string,
  ): Promise<WatchedPage> {
    const watched = await browser.open()
    await watched.page.addInitScript(`localStorage.setItem('trihand-me', ${JSON.stringify(JSON.stringify(who))})`)
    await watched.page.goto(`${this.url}${path}`)
    await watched.page.locator('[data-live=true]').waitFor()
    return watched
  }
}
