/** Writes a greeting. What it returns becomes the data of the event that the manifest names. */
import { fn } from 'trihand'

export default fn('write-greeting', {}, async ({ event }) => {
  const { name } = event.data as { readonly name: string }
  return { text: `Hello ${name}` }
})
