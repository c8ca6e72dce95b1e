/**
 * What the people of the campaign decide, at random, about what they are shown; and the leads that they handle.
 *
 * Owns the expected result of a decision. Sends nothing itself: people.ts does.
 */
import type { Random } from '#test/support/random.ts'

export interface Lead {
  readonly id: string
  readonly email: string
  /** Their replies to a mail. */
  readonly reply: string
}

interface ShownItem {
  readonly id: string
  readonly content: { readonly subject?: string; readonly lead_id?: string }
}

export interface ShownTask {
  readonly id: string
  readonly handler: string
  readonly shown_hash: string
  readonly context: { readonly lead_id: string } | null
  readonly actions: readonly { readonly name: string }[]
  readonly sections: readonly { readonly is_editable: boolean; readonly items: readonly ShownItem[] }[]
}

export interface Choice {
  readonly action: 'approve' | 'reject'
  readonly items: Readonly<Record<string, { readonly status: string; readonly modifications?: object }>>
  readonly reason: string | null
  /** For the mails that must be sent. */
  readonly subjects: readonly string[]
}

const REPLIES = ['Yes, let us have a call', 'Please remove me', 'Who are you?']
const REJECT_ALL = 0.08
const REJECT_ONE = 0.1
const EDIT_ONE = 0.2

export const newLead = (n: number, random: Random): Lead => ({
  id: `lead-${n}`,
  email: `person${n}@lead.example`,
  reply: random.pick(REPLIES),
})

/** In the spelling of the example's table. */
export const leadsTable = (leads: readonly Lead[]): string =>
  [
    'lead_id,first_name,company,email,industry',
    ...leads.map(({ id, email }) => `${id},Ada,Company ${id},${email},logistics`),
  ]
    .map((line) => `${line}\n`)
    .join('')

const itemsOf = ({ sections }: ShownTask): readonly (ShownItem & { readonly isEditable: boolean })[] =>
  sections.flatMap(({ is_editable: isEditable, items }) => items.map((item) => ({ ...item, isEditable })))

export const leadOf = (shown: ShownTask): string =>
  shown.context?.lead_id ?? itemsOf(shown)[0]?.content.lead_id ?? 'nobody'

/** Decides each of nine mails separately: some are edited, some are not sent. */
const chooseMails = (shown: ShownTask, random: Random): Choice => {
  const items: Record<string, { status: string; modifications?: object }> = {}
  const subjects: string[] = []
  for (const { id, isEditable, content } of itemsOf(shown)) {
    const subject = content.subject ?? ''
    if (random.chance(REJECT_ONE)) items[id] = { status: 'rejected' }
    else if (isEditable && random.chance(EDIT_ONE)) {
      items[id] = { status: 'edited', modifications: { ...content, subject: `${subject} (changed)` } }
      subjects.push(`${subject} (changed)`)
    } else subjects.push(subject)
  }
  return { action: 'approve', items, reason: null, subjects }
}

/** `isAgreeable`: approves the whole bundle. */
export const choose = (shown: ShownTask, random: Random, isAgreeable: boolean): Choice => {
  const isRefused = !isAgreeable && shown.handler !== 'response-triager' && random.chance(REJECT_ALL)
  if (isRefused) return { action: 'reject', items: {}, reason: 'not now', subjects: [] }
  if (shown.handler === 'review-campaign') return chooseMails(shown, random)
  const subjects = shown.handler === 'approve-reply' ? [itemsOf(shown)[0]?.content.subject ?? ''] : []
  return { action: 'approve', items: {}, reason: null, subjects }
}
