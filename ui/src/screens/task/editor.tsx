/** Content as a form: one box per field of text, JSON for the rest. What does not parse is not saved. */
import { JsonInput, Stack, Textarea } from '@mantine/core'
import { useState } from 'react'
import { isRecord, type Json } from '../../api/documents.ts'

const JsonField = ({
  label,
  value,
  change,
}: {
  readonly label: string
  readonly value: Json
  readonly change: (value: Json) => void
}) => {
  const [text, setText] = useState(() => JSON.stringify(value, null, 2))
  const [shown, setShown] = useState(value)
  // Another tab or device has changed it.
  if (JSON.stringify(value) !== JSON.stringify(shown)) {
    setShown(value)
    setText(JSON.stringify(value, null, 2))
  }
  return (
    <JsonInput
      label={label}
      value={text}
      autosize
      minRows={1}
      maxRows={16}
      validationError="This is not JSON; it is not saved"
      onChange={(next) => {
        setText(next)
        try {
          const parsed = JSON.parse(next) as Json
          setShown(parsed)
          change(parsed)
        } catch {
          // The field says so itself.
        }
      }}
    />
  )
}

export const Editor = ({
  value,
  change,
  label,
}: {
  readonly value: Json
  readonly change: (value: Json) => void
  readonly label: string
}) => {
  if (typeof value === 'string')
    return <Textarea label={label} value={value} autosize minRows={2} onChange={(e) => change(e.currentTarget.value)} />
  if (!isRecord(value)) return <JsonField label={label} value={value} change={change} />
  return (
    <Stack gap="xs">
      {Object.entries(value).map(([name, field]) =>
        typeof field === 'string' ? (
          <Textarea
            key={name}
            label={name}
            value={field}
            autosize
            minRows={1}
            maxRows={20}
            onChange={(e) => change({ ...value, [name]: e.currentTarget.value })}
          />
        ) : (
          <JsonField key={name} label={name} value={field} change={(next) => change({ ...value, [name]: next })} />
        ),
      )}
    </Stack>
  )
}
