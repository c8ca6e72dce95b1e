/** A value as its schema asks for it: a field for each member, or one box of JSON. */
import { Checkbox, NativeSelect, Textarea, TextInput } from '@mantine/core'
import type { Field, Filled } from './schema-fields.ts'

interface OneField {
  readonly field: Field
  readonly value: string | boolean | undefined
  readonly change: (value: string | boolean) => void
}

const One = ({ field: { label, kind, words, isRequired, description }, value, change }: OneField) => {
  const text = typeof value === 'string' ? value : ''
  const common = { label, description, required: isRequired }
  const typed = (event: { readonly currentTarget: { readonly value: string } }): void =>
    change(event.currentTarget.value)
  if (kind === 'yes')
    return (
      <Checkbox
        label={label}
        description={description}
        checked={value === true}
        onChange={(e) => change(e.currentTarget.checked)}
      />
    )
  if (kind === 'words') return <NativeSelect {...common} data={['', ...words]} value={text} onChange={typed} />
  if (kind === 'json')
    return (
      <Textarea {...common} label={`${label} (JSON)`} autosize minRows={1} maxRows={8} value={text} onChange={typed} />
    )
  return <TextInput {...common} inputMode={kind === 'number' ? 'decimal' : 'text'} value={text} onChange={typed} />
}

export const SchemaForm = ({
  fields,
  filled,
  change,
}: {
  readonly fields: readonly Field[]
  readonly filled: Filled
  readonly change: (filled: Filled) => void
}) => (
  <>
    {fields.map((field) => (
      <One
        key={field.name}
        field={field}
        value={filled[field.name]}
        change={(value) => change({ ...filled, [field.name]: value })}
      />
    ))}
  </>
)
