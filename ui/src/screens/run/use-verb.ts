/** What a person does to a run: sent to the server, whose answer shows by itself; a refusal is told at the corner. */
import { useMutation } from '@tanstack/react-query'
import { sendJson } from '../../api/client.ts'
import { queryClient } from '../../api/queries.ts'
import { complain } from '../../parts/say.ts'

export type Verb = 'retry' | 'pause' | 'resume' | 'cancel'

export const useVerb = (id: string) => {
  const { mutate, isPending } = useMutation({
    mutationFn: ({ verb, body }: { readonly verb: Verb; readonly body: object }) =>
      sendJson(`/api/runs/${id}/${verb}`, body),
    onSettled: () => queryClient.invalidateQueries({ queryKey: ['runs'] }),
    onError: complain,
  })
  return { isPending, act: (verb: Verb, body: object = {}) => mutate({ verb, body }) }
}
