/** The dialog that starts a run: choose a handler and type its input, in a form if the handler has a schema, or as JSON. */
import { Button, Group, Modal, NativeSelect, Stack, Switch, Textarea } from '@mantine/core'
import { useMutation, useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { Play } from 'lucide-react'
import { useRef, useState } from 'react'
import { type Filled, fieldsOf, filledValue } from '#model/kernel/form-fields.ts'
import { Problem, sendJson } from '../../api/client.ts'
import type { Json, System } from '../../api/documents.ts'
import { useMay } from '../../api/me.ts'
import { systemQuery } from '../../api/queries.ts'
import { say } from '../../parts/say.ts'
import { SchemaForm } from '../../parts/schema-form.tsx'
import { ErrorBox, shownError } from '../../parts/state.tsx'
import { useKeys } from '../../parts/use-keys.ts'

type Handler = System['handlers'][number]

const parsed = (text: string): Json => {
  try {
    return text.trim() === '' ? null : (JSON.parse(text) as Json)
  } catch (error) {
    throw new Problem('NOT_JSON', 0, `The input is not valid JSON: ${(error as Error).message}`, null)
  }
}

const Dialog = ({ handlers, close }: { readonly handlers: readonly Handler[]; readonly close: () => void }) => {
  const navigate = useNavigate()
  const [name, setName] = useState(handlers[0]?.name ?? '')
  const [filled, setFilled] = useState<Filled>({})
  const [text, setText] = useState('')
  const [wantsJson, setWantsJson] = useState(false)
  const [key, setKey] = useState(() => crypto.randomUUID())
  const fields = fieldsOf(handlers.find((handler) => handler.name === name)?.input_schema ?? null)
  const form = wantsJson ? null : fields
  const { mutate, isPending, error } = useMutation({
    mutationFn: async () => {
      const input = form === null ? parsed(text) : filledValue(form, filled)
      return sendJson<{ readonly id: string }>('/api/runs', { name, input }, { key })
    },
    onSuccess: ({ id }) => {
      say('teal', 'Started', name)
      close()
      void navigate({ to: '/runs/$id', params: { id } })
    },
    // A corrected request is a new request, so it needs a new idempotency key.
    onError: () => setKey(crypto.randomUUID()),
  })
  const written = useRef<HTMLFormElement>(null)
  useKeys({ '$mod+Enter': () => written.current?.requestSubmit() })
  return (
    <Modal opened onClose={close} title="Start a run" size="lg" closeButtonProps={{ 'aria-label': 'Close' }}>
      <form
        ref={written}
        onSubmit={(event) => {
          event.preventDefault()
          mutate()
        }}
      >
        <Stack gap="sm">
          <NativeSelect
            label="Handler"
            data-autofocus
            data={handlers.map((handler) => ({ value: handler.name, label: `${handler.name} (${handler.modality})` }))}
            value={name}
            onChange={(e) => {
              setName(e.currentTarget.value)
              setFilled({})
            }}
          />
          {form === null ? (
            <Textarea
              label="Input (JSON)"
              placeholder="{}"
              autosize
              minRows={3}
              maxRows={16}
              value={text}
              onChange={(e) => setText(e.currentTarget.value)}
            />
          ) : (
            <SchemaForm fields={form} filled={filled} change={setFilled} />
          )}
          {fields !== null && (
            <Switch
              size="xs"
              label="Edit as JSON"
              checked={wantsJson}
              onChange={(e) => setWantsJson(e.currentTarget.checked)}
            />
          )}
          {error !== null && <ErrorBox {...shownError(error)} />}
          <Group justify="flex-end">
            <Button variant="default" onClick={close}>
              Back
            </Button>
            <Button type="submit" loading={isPending} disabled={name === ''}>
              Start
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  )
}

export const StartRun = () => {
  const { data } = useQuery(systemQuery)
  const [isOpen, setOpen] = useState(false)
  if (!useMay('operator') || data === undefined || data.handlers.length === 0) return null
  return (
    <>
      <Button size="xs" leftSection={<Play size={14} aria-hidden />} onClick={() => setOpen(true)}>
        Start a run
      </Button>
      {isOpen && <Dialog handlers={data.handlers} close={() => setOpen(false)} />}
    </>
  )
}
