/**
 * Sends a mail to each contact. A plan passes the outputs of the required steps under their ids. The function recognises the contacts and
 * the message by their content, so a plan may name its steps freely.
 */
import { fn } from 'trihand'
import { deliver } from '../mail-sink.ts'

interface Contact {
  readonly name: string
  readonly email: string
}

const memberOf = <Value>(input: object, name: string): Value | undefined =>
  Object.values(input).find((one) => typeof one === 'object' && one !== null && name in one)?.[name]

export default fn<object>('send-emails', {}, async ({ input, step }) => {
  const contacts = memberOf<readonly Contact[]>(input, 'contacts')
  const body = memberOf<string>(input, 'body')
  if (contacts === undefined || body === undefined)
    throw new Error('there are no contacts or no words: require the steps that give them')
  for (const { email } of contacts)
    await step.run('send', ({ effectKey }) => deliver({ to: email, body }, effectKey), { key: email })
  return { sent: contacts.length }
})
