/** Writes the mail from the text after the colon of a step in a plan. */
import { fn } from 'trihand'

export default fn<{ readonly text?: string }>('compose-email-message', {}, ({ input }) => ({
  body: input.text ?? 'Hello!',
}))
