/** A form generated from a JSON schema: one field per property, with its error below it. */
import { Button, Checkbox, Input, NativeSelect, Textarea, TextInput } from '@mantine/core'
import {
  type Field,
  type FieldKind,
  type Filled,
  initiallyFilled,
  problemsOf,
  rowsIn,
} from '#model/kernel/form-fields.ts'
import { focusAtOnce } from './focus-at-once.ts'

interface OneField {
  readonly field: Field
  readonly value: string | boolean | undefined
  readonly problem: string | undefined
  /** Focuses this field. */
  readonly isFirst: boolean
  readonly change: (value: string | boolean) => void
}

const INPUTS: Readonly<Partial<Record<FieldKind, string>>> = {
  date: 'date',
  'date-time': 'datetime-local',
  time: 'time',
  email: 'email',
  uri: 'url',
}

const textOf = (value: string | boolean | undefined): string => (typeof value === 'string' ? value : '')

/** A list of objects, with a row of fields for each. Errors are shown in their row. */
const Rows = ({ field, value, problem, change }: OneField) => {
  const rows = rowsIn(value)
  const become = (next: readonly Filled[]): void => change(next.length === 0 ? '' : JSON.stringify(next))
  return (
    <fieldset className="rows" aria-label={field.label}>
      <Input.Label component="div" required={field.isRequired}>
        {field.label}
      </Input.Label>
      {field.description !== null && <Input.Description>{field.description}</Input.Description>}
      {rows.map((row, i) => (
        // A row has no id other than its index.
        // biome-ignore lint/suspicious/noArrayIndexKey: see above
        <fieldset key={i} className="row" aria-label={`${field.label} ${i + 1}`}>
          <SchemaForm
            fields={field.rows}
            filled={row}
            problems={problem === undefined ? {} : problemsOf(field.rows, row)}
            change={(next) => become(rows.with(i, next))}
          />
          <Button
            size="compact-sm"
            variant="default"
            aria-label={`Remove ${field.label} ${i + 1}`}
            onClick={() => become(rows.toSpliced(i, 1))}
          >
            Remove
          </Button>
        </fieldset>
      ))}
      {problem !== undefined && <Input.Error>{problem}</Input.Error>}
      <Button
        size="compact-sm"
        variant="default"
        aria-label={`Add to ${field.label}`}
        onClick={() => become([...rows, initiallyFilled(field.rows)])}
      >
        Add
      </Button>
    </fieldset>
  )
}

const Choices = ({ field: { label, words, isRequired, description }, value, problem, change }: OneField) => {
  const chosen = textOf(value).split('\n')
  return (
    <Checkbox.Group
      label={label}
      description={description}
      error={problem}
      withAsterisk={isRequired}
      value={chosen}
      // Keep the order of the schema, not of the clicks.
      onChange={(next) => change(words.filter((word) => next.includes(word)).join('\n'))}
    >
      <div className="choices">
        {words.map((word) => (
          <Checkbox key={word} value={word} label={word} />
        ))}
      </div>
    </Checkbox.Group>
  )
}

const One = (own: OneField) => {
  const { field, value, problem, isFirst, change } = own
  const { label, kind, words, isRequired, description } = field
  const text = textOf(value)
  // Not `required`: the browser's own bubble would cover the error text.
  const common = {
    ...{ label, description, error: problem, withAsterisk: isRequired, 'aria-required': isRequired },
    ...(isFirst && { 'data-autofocus': true, ref: focusAtOnce }),
  }
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
          {...(isFirst && { 'data-autofocus': true, ref: focusAtOnce })}
          checked={value === true}
          onChange={(e) => change(e.currentTarget.checked)}
        />
      )
    case 'words':
      return <NativeSelect {...common} data={['', ...words]} value={text} onChange={typed} />
    case 'choices':
      return <Choices {...own} />
    case 'rows':
      return <Rows {...own} />
    case 'json':
      return <Textarea {...common} {...rows} label={`${label} (JSON)`} value={text} onChange={typed} />
    case 'lines':
      return <Textarea {...common} {...rows} label={`${label} (one per line)`} value={text} onChange={typed} />
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
  isFirst = false,
  change,
}: {
  readonly fields: readonly Field[]
  readonly filled: Filled
  readonly problems?: Readonly<Record<string, string>>
  readonly isFirst?: boolean
  readonly change: (filled: Filled) => void
}) => (
  <>
    {fields.map((field, i) => (
      <One
        key={field.name}
        field={field}
        value={filled[field.name]}
        problem={problems[field.name]}
        isFirst={isFirst && i === 0}
        change={(value) => change({ ...filled, [field.name]: value })}
      />
    ))}
  </>
)
