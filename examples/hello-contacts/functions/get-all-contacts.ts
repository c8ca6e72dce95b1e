/** Returns the contacts of the file. */
import { readFile } from 'node:fs/promises'
import { fn } from 'trihand'

export default fn('get-all-contacts', {}, ({ step }) =>
  step.run('read', async () => {
    const text = await readFile(new URL('../contacts.csv', import.meta.url), 'utf8')
    const lines = text.trim().split('\n').slice(1)
    return { contacts: lines.map((line) => ({ name: line.split(',')[0] ?? '', email: line.split(',')[1] ?? '' })) }
  }),
)
