/** Writes a greeting. Its result becomes the data of the event that the manifest names. */
import { fn } from 'trihand'

export default fn<{ readonly name: string }>('write-greeting', {}, async ({ input }) => ({
  text: `Hello ${input.name}`,
}))
