/** A value as its schema asks for it: a field for each member, each with what is wrong with it, or one box of JSON. */
import { Checkbox, NativeSelect, Textarea, TextInput } from '@mantine/core'
import type { Field, FieldKind, Filled } from '../../../src/model/form-fields.ts'

interface OneField {
  readonly field: Field
  readonly value: string | boolean | undefined
  readonly problem: string | undefined
  readonly change: (value: string | boolean) => void
}

const INPUTS: Readonly<Partial<Record<FieldKind, string>>> = {
  date: 'date',
  'date-time': 'datetime-local',
  time: 'time',
  email: 'email',
  uri: 'url',
}

const One = ({ field: { label, kind, words, isRequired, description }, value, problem, change }: OneField) => {
  const text = typeof value === 'string' ? value : ''
  // Not `required`: the browser's own bubble would hide what is said in place.
  const common = { label, description, error: problem, withAsterisk: isRequired, 'aria-required': isRequired }
  const typed = (event: { readonly currentTarget: { readonly value: string } }): void =>
    change(event.currentTarget.value)
  const rows = { autosize: true, minRows: kind === 'lines' ? 2 : 1, maxRows: 8 }
  switch (kind) {
    case 'yes':
      return (
        <Checkbox
          label={label}
          description={description}
          error={problem}
          checked={value === true}
          onChange={(e) => change(e.currentTarget.checked)}
        />
      )
    case 'words':
      return <NativeSelect {...common} data={['', ...words]} value={text} onChange={typed} />
    case 'json':
      return <Textarea {...common} {...rows} label={`${label} (JSON)`} value={text} onChange={typed} />
    case 'lines':
      return <Textarea {...common} {...rows} label={`${label} (one on each line)`} value={text} onChange={typed} />
    case 'long':
      return <Textarea {...common} {...rows} value={text} onChange={typed} />
    default: {
      const mode = kind === 'number' || kind === 'integer' ? 'decimal' : 'text'
      return <TextInput {...common} type={INPUTS[kind] ?? 'text'} inputMode={mode} value={text} onChange={typed} />
    }
  }
}

export const SchemaForm = ({
  fields,
  filled,
  problems = {},
  change,
}: {
  readonly fields: readonly Field[]
  readonly filled: Filled
  readonly problems?: Readonly<Record<string, string>>
  readonly change: (filled: Filled) => void
}) => (
  <>
    {fields.map((field) => (
      <One
        key={field.name}
        field={field}
        value={filled[field.name]}
        problem={problems[field.name]}
        change={(value) => change({ ...filled, [field.name]: value })}
      />
    ))}
  </>
)
