/**
 * The rerun dialog: old and new input, the steps that are kept, the steps that run again, and side effects that happen again.
 *
 * The server computes this preview for each chosen step.
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

/** Longest list of steps. The rest is a count. */
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
      <h3 id="rerun-stands">Kept ({reused.length})</h3>
      <ul className="rerun-steps">
        {reused.length === 0 && <li className="quiet">None. Every step runs again.</li>}
        {reused.slice(0, LISTED).map((step) => (
          <li key={step}>{step}</li>
        ))}
        <More count={reused.length - LISTED} />
      </ul>
    </section>
    <section aria-labelledby="rerun-again">
      <h3 id="rerun-again">Run again ({again.length})</h3>
      <ul className="rerun-steps">
        {again.slice(0, LISTED).map(({ step, once, asks }) => (
          <li key={step}>
            <RotateCcw size={14} aria-hidden /> {step}
            {once && (
              <span className="status" data-tone="wait">
                <TriangleAlert size={14} aria-hidden /> happens again
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
      Side effects happen again
    </span>
  )
  return (
    <Alert color="orange" variant="outline" title={title}>
      These steps happen at most once per run, and the new run does them again: {effects.slice(0, LISTED).join(', ')}.
    </Alert>
  )
}

interface Chosen {
  readonly id: string
  readonly from: string | null
}

/** Same height for both, so that lines can be compared. */
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
    <JsonInput label="Old input" description="Read only." value={written(old)} readOnly variant="filled" {...ROWS} />
    <JsonInput
      label="New input"
      description={
        text === written(old) ? 'Same input and event as the old run.' : 'The new run starts with this input.'
      }
      value={text}
      {...ROWS}
      validationError="Not valid JSON"
      onChange={change}
    />
  </div>
)

interface FormProps {
  readonly preview: RerunPreview
  /** The preview belongs to the step chosen before; the new one is loading. */
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
  // With a changed input people are asked again, so fewer steps are kept.
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
      say('green', 'Rerun started', 'This is the new run. The old run is unchanged.')
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
          description="Keep earlier answers where people would be asked the same question."
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
          Rerun
        </Button>
      </Group>
    </Stack>
  )
}

const Dialog = ({ id, from, close }: Chosen & { readonly close: () => void }) => {
  const [chosen, setChosen] = useState(from)
  const { data: whole } = useQuery(rerunQuery(id, null))
  // Keep the typed input while another step is chosen.
  const asked = useQuery({ ...rerunQuery(id, chosen), placeholderData: keepPreviousData })
  const { data: preview, error, refetch, isPlaceholderData } = asked
  const steps = whole?.again.map(({ step }) => step) ?? []
  return (
    <Modal opened onClose={close} title="Rerun" size="xl" closeButtonProps={{ 'aria-label': 'Close' }}>
      <Stack gap="md">
        <NativeSelect
          label="From"
          description="A new run repeats this step and the rest. Earlier results are kept."
          value={chosen ?? ''}
          data={[{ value: '', label: 'Beginning' }, ...new Set([...(chosen === null ? [] : [chosen]), ...steps])]}
          onChange={(event) => setChosen(event.currentTarget.value || null)}
        />
        {preview === undefined && error === null && <Loading />}
        {error !== null && <Failed error={error} again={() => void refetch()} />}
        {preview !== undefined && <Form preview={preview} isOld={isPlaceholderData} close={close} />}
      </Stack>
    </Modal>
  )
}

/** `from` is the step chosen on the page. */
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
