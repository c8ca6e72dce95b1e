/** What stands behind the colon of a step is its text. */
import { fn } from 'trihand'

export default fn<{ readonly text?: string }>('compose-email-message', {}, ({ input }) => ({
  body: input.text ?? 'Hello!',
}))
