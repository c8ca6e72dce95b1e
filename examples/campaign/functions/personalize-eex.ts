/** Fills the five templates for the lead; together with the agent's four mails they are the nine items of the bundle. */
import { fn } from 'trihand'

interface Drafted {
  readonly lead_id: string
  readonly first_name: string
  readonly company: string
  readonly email: string
  readonly emails: readonly { readonly id: string; readonly subject: string; readonly body: string }[]
}

const TEMPLATES = [
  ['eex_1', 'A word on {company}', 'Hello {first_name}, this is how teams like yours at {company} began.'],
  ['eex_2', 'The numbers, {first_name}', 'Three figures that {company} may want to compare with its own.'],
  ['eex_3', 'A question from {company}', 'What would one stop fewer a week be worth to {company}?'],
  ['eex_4', 'How it works', 'One page, no login, made for {company}.'],
  ['eex_5', 'Last page', '{first_name}, this is the last page we send.'],
] as const

const filled = (text: string, lead: Drafted): string =>
  text.replaceAll('{first_name}', lead.first_name).replaceAll('{company}', lead.company)

export default fn<Drafted>('personalize-eex', {}, async ({ input, step, emit }) => {
  const templates = await step.run('personalise', () =>
    TEMPLATES.map(([id, subject, body]) => ({ id, subject: filled(subject, input), body: filled(body, input) })),
  )
  const { lead_id, company, email, emails } = input
  emit('campaign.drafted', { lead_id, company, email, drafts: emails, templates })
  return { items: emails.length + templates.length }
})
