/** Reads the leads of a campaign, stores them in a table, and emits an event for each. */
import { readFile } from 'node:fs/promises'
import { fn } from 'trihand'

interface Lead {
  readonly lead_id: string
  readonly first_name: string
  readonly company: string
  readonly email: string
  readonly industry: string
}

const readLeads = async (): Promise<readonly Lead[]> => {
  const text = await readFile(new URL('../leads.csv', import.meta.url), 'utf8')
  const [head = '', ...lines] = text.trim().split('\n')
  const names = head.split(',')
  return lines.map((line) => Object.fromEntries(line.split(',').map((cell, i) => [names[i], cell])) as unknown as Lead)
}

export default fn('import-leads', {}, async ({ step }) =>
  step.run('import', async ({ write, emit }) => {
    const leads = await readLeads()
    for (const lead of leads) {
      write('leads', lead.lead_id, { ...lead })
      emit('lead.enriched', { ...lead })
    }
    return { imported: leads.length }
  }),
)
