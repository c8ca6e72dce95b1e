/**
 * The verdict on a campaign after its kills: every call paid once, every approved mail sent once, every decision kept and acted on once.
 *
 * Owns what is a violation. Reads the ledger through the driver, and the records of the outside services; never asks the system under test.
 */
import type { Query } from '#test/chaos/query.ts'
import type { SentMail } from './mail-service.ts'
import type { People, Said } from './people.ts'
import type { PaidCall } from './provider.ts'

/** The SQL in which the two stores differ. */
export interface Dialect {
  /** Digits of the id of stream `s`. */
  readonly id: string
  /** Facts `f` of streams `s`. */
  readonly facts: string
}

export const SQLITE: Dialect = { id: 'lower(hex(s.id))', facts: 'fact f join stream s on s.key = f.stream' }
export const POSTGRES: Dialect = {
  id: `replace(s.id::text, '-', '')`,
  facts: 'fact f join stream s on s.id = f.stream',
}

const bodiesOf = async <Body>(query: Query, { id, facts }: Dialect, where: string) => {
  const rows = await query(`select ${id} as id, s.handler as handler, f.body as body from ${facts} where ${where}`)
  return rows.map((row) => ({
    id: String(row['id']),
    handler: String(row['handler']),
    body: JSON.parse(String(row['body'])) as Body,
  }))
}

interface Answered {
  readonly step: string
  readonly result: { readonly value?: { readonly kind?: string; readonly reply?: { readonly responseId: string } } }
}

/** Answers that the ledger contains. */
export const journaledAnswers = async (query: Query, dialect: Dialect): Promise<ReadonlySet<string>> => {
  const facts = await bodiesOf<Answered>(query, dialect, `f.type = 'step.completed'`)
  return new Set(
    facts.flatMap(({ body: { step, result } }) =>
      step.startsWith('agent/model[') && result.value?.reply !== undefined ? [result.value.reply.responseId] : [],
    ),
  )
}

const groupBy = <T>(list: readonly T[], key: (one: T) => string): ReadonlyMap<string, readonly T[]> => {
  const groups = new Map<string, T[]>()
  for (const one of list) groups.set(key(one), [...(groups.get(key(one)) ?? []), one])
  return groups
}

/** A call is repeated only if the process died before its answer was in the ledger, where at most one call of a step is ever recorded. */
export const judgeCalls = (calls: readonly PaidCall[], journaled: ReadonlySet<string>): readonly string[] => {
  const wrong: string[] = []
  for (const [key, made] of groupBy(calls, (call) => call.key)) {
    const first = made.findIndex(({ response }) => journaled.has(response))
    if (first === -1) wrong.push(`${key}: ${made.length} calls, and no answer is in the ledger`)
    else if (first < made.length - 1) wrong.push(`${key}: was paid again after its answer was in the ledger`)
    const lives = new Set(made.map(({ life }) => life))
    if (lives.size < made.length) wrong.push(`${key}: was paid twice in one life`)
  }
  return wrong
}

/** Mails that were sent more than once, by any step. */
export const doubledMails = (mails: readonly SentMail[]): readonly string[] =>
  [...groupBy(mails, ({ to, subject }) => `${to}: ${subject}`)].flatMap(([mail, sent]) =>
    sent.length > 1 ? [`${mail} was sent ${sent.length} times`] : [],
  )

/** Every approved mail, and no other, was sent. */
const judgeMails = ({ said, leads }: People, mails: readonly SentMail[]): readonly string[] => {
  const sent = new Set(mails.map(({ to, subject }) => `${to}: ${subject}`))
  const wrong: string[] = []
  const expected = [...said.values()].flatMap(({ handler, lead, subjects }) =>
    subjects.map((subject) => `${handler === 'approve-reply' ? lead : leads.get(lead)?.email}: ${subject}`),
  )
  for (const mail of expected) if (!sent.delete(mail)) wrong.push(`${mail} was approved and never sent`)
  for (const mail of sent) wrong.push(`${mail} was sent, and nobody had approved it`)
  return wrong
}

interface Decided {
  readonly action: string
  readonly by: string
}

/** A task has the one decision that was made; none is missing. */
const judgeDecisions = async (said: ReadonlyMap<string, Said>, query: Query, dialect: Dialect) => {
  const facts = await bodiesOf<Decided>(query, dialect, `f.type = 'task.decided'`)
  const decided = groupBy(facts, ({ id }) => `tsk_${id}`)
  const wrong: string[] = []
  for (const [task, { action, lead, handler }] of said) {
    const found = decided.get(task) ?? []
    if (found.length === 1 && found[0]?.body.action === action) continue
    wrong.push(
      `${handler} ${lead}: ${action} was said, the ledger has ${JSON.stringify(found.map(({ body }) => body.action))}`,
    )
  }
  return wrong
}

/** Everything that a decision starts is started once. */
const judgeActs = async (said: readonly Said[], query: Query): Promise<readonly string[]> => {
  const rows = await query(`select e.type as type, e.data as data, s.status as status from event e
    left join stream s on s.event = e.seq and s.handler in ('send-campaign', 'send-reply')
    where e.type in ('campaign.approved', 'campaign.rejected', 'reply.approved', 'reply.rejected')`)
  const kinds: Readonly<Record<string, string>> = { 'review-campaign': 'campaign', 'approve-reply': 'reply' }
  const wrong: string[] = []
  for (const [handler, noun] of Object.entries(kinds)) {
    for (const action of ['approve', 'reject'] as const) {
      const type = `${noun}.${action === 'approve' ? 'approved' : 'rejected'}`
      const emitted = rows.filter((row) => row['type'] === type)
      const meant = said.filter((one) => one.handler === handler && one.action === action).length
      if (emitted.length !== meant) wrong.push(`${meant} times ${type} was decided, and told ${emitted.length} times`)
      const acted = emitted.filter(({ status }) => status === 'success').length
      if (action === 'approve' && acted !== meant) wrong.push(`of ${meant} ${type} only ${acted} were carried out`)
    }
  }
  return wrong
}

/** The expected final state of every lead. */
const judgeLeads = async ({ said, leads }: People, query: Query): Promise<readonly string[]> => {
  const rows = await query(`select type, data from event where type in ('campaign.drafted', 'lead.closed')`)
  const emitted = groupBy(rows, (row) => `${row['type']} ${JSON.parse(String(row['data'])).lead_id}`)
  const isSaid = (lead: string, handler: string, action: string): boolean =>
    [...said.values()].some((one) => one.lead === lead && one.handler === handler && one.action === action)
  const wrong: string[] = []
  for (const { id } of leads.values()) {
    const isClosed = isSaid(id, 'review-campaign', 'approve') && !isSaid(id, 'approve-reply', 'reject')
    const expected = { 'campaign.drafted': 1, 'lead.closed': isClosed ? 1 : 0 }
    for (const [type, times] of Object.entries(expected)) {
      const found = emitted.get(`${type} ${id}`)?.length ?? 0
      if (found !== times) wrong.push(`${id}: ${found} times ${type} instead of ${times}`)
    }
  }
  return wrong
}

interface Ended {
  readonly error: { readonly code: string; readonly message: string }
}

/** Nothing in the campaign may fail: a process that dies is not a failure of a run. */
const judgeEnds = async (query: Query, dialect: Dialect): Promise<readonly string[]> => {
  const ends = await bodiesOf<Ended>(query, dialect, `f.type in ('run.failed', 'run.cancelled', 'run.expired')`)
  return ends.map(({ handler, id, body }) => `${handler} ${id} ended with ${body.error.code}: ${body.error.message}`)
}

export interface Evidence {
  readonly people: People
  readonly mails: readonly SentMail[]
  readonly calls: readonly PaidCall[]
}

export const judgeCampaign = async (evidence: Evidence, query: Query, dialect: Dialect): Promise<readonly string[]> => {
  const { people, mails, calls } = evidence
  return [
    ...people.faults,
    ...(await judgeEnds(query, dialect)),
    ...judgeCalls(calls, await journaledAnswers(query, dialect)),
    ...doubledMails(mails),
    ...judgeMails(people, mails),
    ...(await judgeDecisions(people.said, query, dialect)),
    ...(await judgeActs([...people.said.values()], query)),
    ...(await judgeLeads(people, query)),
  ]
}
