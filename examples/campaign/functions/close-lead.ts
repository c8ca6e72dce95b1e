/** Closes a lead that does not want to talk, without a reply. */
import { fn } from 'trihand'

export default fn<{ readonly lead_id: string; readonly category: string }>('close-lead', {}, ({ input, emit }) => {
  emit('lead.closed', { lead_id: input.lead_id, outcome: input.category })
  return { outcome: input.category }
})
