/**
 * The people of the campaign, over HTTP: they send leads and replies, read the inbox, decide, and answer what happened to
 * a mail that is uncertain. Some answer at once, some only after the process they read it from has died.
 *
 * Owns what was sent and what was acknowledged. Runs in the process that is never killed, and repeats requests without an answer.
 */
import { appendFileSync } from 'node:fs'
import { isEnded, RUN_STATUSES, type RunStatus } from '#model/run/status.ts'
import type { Random } from '#test/support/random.ts'
import { pause } from '#test/support/until.ts'
import { type Choice, choose, type Lead, leadOf, newLead, type ShownTask } from './choices.ts'
import type { MailService } from './mail-service.ts'
import type { Moments } from './moments.ts'

export interface Said extends Choice {
  readonly task: string
  readonly handler: string
  readonly lead: string
  readonly shownHash: string
  /** The life of the server in which the task was read. */
  readonly readIn: number
  /** Answers after the process they read it from has died. */
  readonly isSlow: boolean
  isPosted: boolean
  /** The life in which it was acknowledged; null: not yet. */
  heardIn: number | null
}

interface Letter {
  readonly type: string
  readonly id: string
  readonly data: object
}

interface Reply {
  readonly status: number
  // biome-ignore lint/suspicious/noExplicitAny: a person looks into any document without ceremony
  readonly body: any
}

const WHO = { 'x-trihand-user': 'ana', 'x-trihand-groups': 'sales,operators', 'content-type': 'application/json' }
const SOURCE = 'people'
const EVERY_MS = 10
const MAX_OPEN_RUNS = 8

export interface PeopleOptions {
  readonly acks: string
  readonly random: Random
  readonly moments: Moments
  readonly mails: MailService
  readonly isAgreeable: boolean
}

export class People {
  readonly #options: PeopleOptions
  readonly #letters = new Map<string, Letter>()
  readonly said = new Map<string, Said>()
  readonly leads = new Map<string, Lead>()
  readonly faults: string[] = []
  #url: string | null = null
  #isOver = false
  #working: Promise<void> = Promise.resolve()
  #isLast = false
  acknowledged = 0
  doubts = 0
  /** Every request is acknowledged, no task is open, no run is left. */
  isQuiet = false

  /** `imported`: leads of the example's own table. */
  constructor(options: PeopleOptions, imported: readonly Lead[]) {
    this.#options = options
    for (const lead of imported) this.leads.set(lead.id, lead)
    this.#letters.set('start', { type: 'campaign.requested', id: 'start', data: { campaign_id: 'c1' } })
    this.#working = this.#work()
  }

  /** A process now serves at this URL. */
  meet(url: string, isLast = false): void {
    this.#isLast = isLast
    this.#url = url
  }

  part(): void {
    this.#url = null
  }

  async close(): Promise<void> {
    this.#isOver = true
    await this.#working
  }

  async #work(): Promise<void> {
    while (!this.#isOver) {
      // If a process dies during a request, there is no answer, and the request is repeated.
      if (this.#url !== null) await this.#round(this.#url).catch(() => {})
      await pause(EVERY_MS)
    }
  }

  async #round(url: string): Promise<void> {
    for (const letter of this.#letters.values()) await this.#post(url, letter)
    await this.#readInbox(url)
    for (const said of this.said.values())
      if (said.heardIn === null && this.#isTimeFor(said)) await this.#decide(url, said)
    await this.#resolveDoubts(url)
    await this.#lookAround(url)
  }

  async #ask(url: string, path: string, body?: object, headers: Record<string, string> = {}): Promise<Reply> {
    const post = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }
    const response = await fetch(`${url}${path}`, { ...post, headers: { ...WHO, ...headers } })
    return { status: response.status, body: await response.json() }
  }

  async #post(url: string, letter: Letter): Promise<void> {
    const { status, body } = await this.#ask(url, '/api/events', { ...letter, source: SOURCE })
    if (status !== 200 && status !== 202) throw new Error(`the event was refused: ${JSON.stringify(body)}`)
    this.#letters.delete(letter.id)
    this.acknowledged += 1
    const { acks } = this.#options
    appendFileSync(
      acks,
      `${JSON.stringify({ kind: 'event', source: SOURCE, id: letter.id, sequence: body.sequence })}\n`,
    )
  }

  async #readInbox(url: string): Promise<void> {
    const { body } = await this.#ask(url, '/api/tasks?all=true&limit=100')
    for (const { id } of body.items as readonly { id: string }[]) {
      if (this.said.has(id)) continue
      const { life } = this.#options.moments
      const shown = (await this.#ask(url, `/api/tasks/${id}`)).body as ShownTask
      // An uncertain step is answered through its run.
      if (!shown.actions.some(({ name }) => name === 'approve')) continue
      this.said.set(id, this.#think(shown, life))
      this.#options.moments.report('read')
    }
  }

  #think(shown: ShownTask, readIn: number): Said {
    const { id: task, handler, shown_hash: shownHash } = shown
    const choice = choose(shown, this.#options.random, this.#options.isAgreeable)
    const isSlow = this.said.size % 2 === 0
    return { task, handler, shownHash, readIn, isSlow, lead: leadOf(shown), ...choice, isPosted: false, heardIn: null }
  }

  #isTimeFor({ readIn, isSlow }: Said): boolean {
    return this.#isLast || !isSlow || readIn < this.#options.moments.life
  }

  async #decide(url: string, said: Said): Promise<void> {
    const { life } = this.#options.moments
    const { task, action, items, reason, shownHash } = said
    const before = said.isPosted
    said.isPosted = true
    const asked = this.#ask(
      url,
      `/api/tasks/${task}/decision`,
      { action, items, ...(reason === null ? {} : { reason }), shown_hash: shownHash },
      { 'idempotency-key': task },
    )
    this.#options.moments.report('decision')
    const { status, body } = await asked
    if (status === 409 && body.code === 'TASK_CLOSED' && before) this.#decided(said, life)
    else if (status === 200) this.#decided(said, life)
    else {
      this.faults.push(`${said.handler} ${said.lead}: the decision was refused: ${JSON.stringify(body)}`)
      said.heardIn = life
    }
  }

  #decided(said: Said, life: number): void {
    said.heardIn = life
    this.acknowledged += 1
    const lead = this.leads.get(said.lead)
    if (said.handler !== 'review-campaign' || said.action !== 'approve' || lead === undefined) return
    const id = `${lead.id}/reply`
    this.#letters.set(id, { type: 'reply.received', id, data: { lead_id: lead.id, text: lead.reply } })
  }

  async #runsIn(url: string, status: RunStatus): Promise<readonly { readonly id: string; readonly handler: string }[]> {
    return (await this.#ask(url, `/api/runs?status=${status}&limit=100`)).body.items
  }

  async #resolveDoubts(url: string): Promise<void> {
    for (const { id } of await this.#runsIn(url, 'quarantined')) await this.#ask(url, `/api/runs/${id}/retry`, {})
    for (const { id, handler } of await this.#runsIn(url, 'waiting')) {
      if (!handler.startsWith('send-')) continue
      const { body } = await this.#ask(url, `/api/runs/${id}`)
      const facts = body.facts.items as readonly { type: string; step: string; body: { effectKey: string } }[]
      const open = body.waiting_on as readonly { kind: string; step: string; task: string }[]
      for (const { step, task } of open.filter(({ kind }) => kind === 'uncertain')) {
        const intended = facts.findLast((fact) => fact.type === 'step.intended' && fact.step === step)
        const verdict = this.#options.mails.hasSent(intended?.body.effectKey ?? '') ? 'happened' : 'run_again'
        if (await this.#answer(url, task, verdict)) this.doubts += 1
      }
    }
  }

  /** As a careful person does: what is shown, the required text, and the acknowledged warning. */
  async #answer(url: string, task: string, verdict: 'happened' | 'run_again'): Promise<boolean> {
    const { body } = await this.#ask(url, `/api/tasks/${task}`)
    const action = verdict === 'happened' ? 'it_happened' : verdict
    const asked = (body.actions as readonly { name: string; confirm: string | null; warning: string | null }[]).find(
      ({ name }) => name === action,
    )
    const { status } = await this.#ask(url, `/api/tasks/${task}/decision`, {
      ...{ action, shown_hash: body.shown_hash, acknowledged: asked?.warning != null },
      ...(asked?.confirm != null && { confirm: asked.confirm }),
    })
    return status === 200
  }

  /** True while work is left; sends new leads while there is little. */
  async #lookAround(url: string): Promise<void> {
    const counts = (await this.#ask(url, '/api/runs/counts')).body as Partial<Record<RunStatus, number>>
    const open = RUN_STATUSES.filter((status) => !isEnded(status)).reduce(
      (sum, status) => sum + (counts[status] ?? 0),
      0,
    )
    if (this.#isLast) {
      const isHeard = [...this.said.values()].every(({ heardIn }) => heardIn !== null)
      this.isQuiet = open === 0 && isHeard && this.#letters.size === 0
    } else if (open < MAX_OPEN_RUNS && this.#letters.size === 0) this.#bringLead()
  }

  #bringLead(): void {
    const lead = newLead(this.leads.size + 1, this.#options.random)
    const { id, email } = lead
    this.leads.set(id, lead)
    const data = { lead_id: id, first_name: 'Ada', company: `Company ${id}`, email, industry: 'logistics' }
    this.#letters.set(id, { type: 'lead.enriched', id, data })
  }
}
