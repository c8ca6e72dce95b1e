/**
 * A run once more: the old input beside the new one, what stands, what is done again, and what would happen once more by it.
 *
 * Asks the server what a rerun comes to, for each step that is chosen; works nothing out itself.
 */
import { Alert, Button, Checkbox, Group, JsonInput, Modal, NativeSelect, Stack } from '@mantine/core'
import { keepPreviousData, useMutation, useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { RotateCcw, TriangleAlert, User } from 'lucide-react'
import { useState } from 'react'
import { sendJson } from '../../api/client.ts'
import type { Json, RerunPreview } from '../../api/documents.ts'
import { useMay } from '../../api/me.ts'
import { queryClient, rerunQuery } from '../../api/queries.ts'
import { complain, say } from '../../parts/say.ts'
import { Failed, Loading } from '../../parts/state.tsx'

/** More are counted, not listed. */
const LISTED = 30

const written = (value: Json): string => JSON.stringify(value, null, 2)

const parsed = (text: string): { readonly value: Json } | null => {
  try {
    return { value: JSON.parse(text) as Json }
  } catch {
    return null
  }
}

const More = ({ count }: { readonly count: number }) => (count > 0 ? <li className="quiet">and {count} more</li> : null)

const Outcome = ({ preview: { reused, again } }: { readonly preview: RerunPreview }) => (
  <div className="beside">
    <section aria-labelledby="rerun-stands">
      <h3 id="rerun-stands">Stands ({reused.length})</h3>
      <ul className="rerun-steps">
        {reused.length === 0 && <li className="quiet">Nothing: it begins from the start.</li>}
        {reused.slice(0, LISTED).map((step) => (
          <li key={step}>{step}</li>
        ))}
        <More count={reused.length - LISTED} />
      </ul>
    </section>
    <section aria-labelledby="rerun-again">
      <h3 id="rerun-again">Done again ({again.length})</h3>
      <ul className="rerun-steps">
        {again.slice(0, LISTED).map(({ step, once, asks }) => (
          <li key={step}>
            <RotateCcw size={14} aria-hidden /> {step}
            {once && (
              <span className="status" data-tone="wait">
                <TriangleAlert size={14} aria-hidden /> happens once more
              </span>
            )}
            {asks && (
              <span className="status" data-tone="plain">
                <User size={14} aria-hidden /> asks people
              </span>
            )}
          </li>
        ))}
        <More count={again.length - LISTED} />
      </ul>
    </section>
  </div>
)

const Once = ({ preview: { again } }: { readonly preview: RerunPreview }) => {
  const effects = again.filter(({ once }) => once).map(({ step }) => step)
  if (effects.length === 0) return null
  const title = (
    <span className="status" data-tone="wait">
      An effect happens once more
    </span>
  )
  return (
    <Alert color="orange" variant="outline" title={title}>
      {effects.slice(0, LISTED).join(', ')}: meant to happen at most once in a run. The new run is another one.
    </Alert>
  )
}

interface Chosen {
  readonly id: string
  readonly from: string | null
}

/** The two stand beside each other, line by line. */
const ROWS = { autosize: true, minRows: 3, maxRows: 14 } as const

const Inputs = ({
  old,
  text,
  change,
}: {
  readonly old: Json
  readonly text: string
  readonly change: (text: string) => void
}) => (
  <div className="beside">
    <JsonInput
      label="Input of the old run"
      description="As it was."
      value={written(old)}
      readOnly
      variant="filled"
      {...ROWS}
    />
    <JsonInput
      label="Input of the new run"
      description={text === written(old) ? 'The same, and the same event.' : 'Another one: the run is called with it.'}
      value={text}
      {...ROWS}
      validationError="This is not JSON"
      onChange={change}
    />
  </div>
)

interface FormProps {
  readonly preview: RerunPreview
  /** Of the step before; that of the chosen one is on its way. */
  readonly isOld: boolean
  readonly close: () => void
}

const Form = ({ preview, isOld, close }: FormProps) => {
  const { id, from } = preview
  const navigate = useNavigate()
  const [text, setText] = useState(() => written(preview.input))
  const [reuses, setReuses] = useState(false)
  const input = parsed(text)
  const isChanged = input !== null && text !== written(preview.input)
  // With another input people are asked anew, so that less of the old run stands.
  const changed = useQuery({ ...rerunQuery(id, from, true), enabled: isChanged })
  const shown = isChanged ? (changed.data ?? preview) : preview
  const { mutate, isPending } = useMutation({
    mutationFn: () =>
      sendJson<{ readonly id: string }>(`/api/runs/${id}/rerun`, {
        ...(from !== null && { from }),
        ...(isChanged && { input: input.value }),
        reuse_decisions: reuses,
      }),
    onSettled: () => queryClient.invalidateQueries({ queryKey: ['runs'] }),
    onError: complain,
    onSuccess: (born) => {
      close()
      say('green', 'Run once more', 'This is the new run; the old one is as it was.')
      void navigate({ to: '/runs/$id', params: { id: born.id } })
    },
  })
  return (
    <Stack gap="md">
      <Inputs old={preview.input} text={text} change={setText} />
      <Outcome preview={shown} />
      <Once preview={shown} />
      {shown.again.some(({ reusable }) => reusable) && (
        <Checkbox
          label="Reuse decisions"
          description="Only where people were asked before this step, and would be asked the same."
          checked={reuses}
          onChange={(event) => setReuses(event.currentTarget.checked)}
        />
      )}
      <Group justify="flex-end">
        <Button variant="default" onClick={close}>
          Back
        </Button>
        <Button
          loading={isPending}
          disabled={input === null || isOld || (isChanged && changed.isLoading)}
          onClick={() => mutate()}
        >
          Run once more
        </Button>
      </Group>
    </Stack>
  )
}

const Dialog = ({ id, from, close }: Chosen & { readonly close: () => void }) => {
  const [chosen, setChosen] = useState(from)
  const { data: whole } = useQuery(rerunQuery(id, null))
  // What is written stays while another step is looked at.
  const asked = useQuery({ ...rerunQuery(id, chosen), placeholderData: keepPreviousData })
  const { data: preview, error, refetch, isPlaceholderData } = asked
  const steps = whole?.again.map(({ step }) => step) ?? []
  return (
    <Modal opened onClose={close} title="Run once more" size="xl" closeButtonProps={{ 'aria-label': 'Close' }}>
      <Stack gap="md">
        <NativeSelect
          label="From"
          description="What was finished before it stands; it and the rest are done again, by a new run."
          value={chosen ?? ''}
          data={[{ value: '', label: 'the beginning' }, ...new Set([...(chosen === null ? [] : [chosen]), ...steps])]}
          onChange={(event) => setChosen(event.currentTarget.value || null)}
        />
        {preview === undefined && error === null && <Loading />}
        {error !== null && <Failed error={error} again={() => void refetch()} />}
        {preview !== undefined && <Form preview={preview} isOld={isPlaceholderData} close={close} />}
      </Stack>
    </Modal>
  )
}

/** `from`: the step that is chosen on the page. */
export const Rerun = ({ id, from }: Chosen) => {
  const [isOpen, setOpen] = useState(false)
  if (!useMay('operator')) return null
  return (
    <>
      <Button
        size="xs"
        variant="default"
        leftSection={<RotateCcw size={14} aria-hidden />}
        onClick={() => setOpen(true)}
      >
        {from === null ? 'Rerun' : 'Rerun from here'}
      </Button>
      {isOpen && <Dialog id={id} from={from} close={() => setOpen(false)} />}
    </>
  )
}
