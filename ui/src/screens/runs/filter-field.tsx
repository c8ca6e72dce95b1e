/** The filter as one line of text: `status:failed handler:greet`. Each term is a parameter of the URL. */
import { TextInput } from '@mantine/core'
import { getRouteApi } from '@tanstack/react-router'
import { Search } from 'lucide-react'
import { useState } from 'react'
import { readTerms, writeTerms } from '../../parts/terms.ts'
import { FILTER_KEYS, filterOf } from './filter.ts'

const runsRoute = getRouteApi('/runs')

/** Remounted when the URL changes, so that it shows the filter of the URL. */
const Field = ({ text }: { readonly text: string }) => {
  const navigate = runsRoute.useNavigate()
  const [problem, setProblem] = useState<string | null>(null)
  const apply = (written: string): void => {
    const read = readTerms(written, { keys: FILTER_KEYS, bare: 'handler' })
    setProblem('problem' in read ? read.problem : null)
    if ('terms' in read) void navigate({ search: ({ job }) => ({ ...read.terms, job }) })
  }
  return (
    <TextInput
      data-filter
      className="terms"
      size="xs"
      label="Filter"
      placeholder="status:failed handler:greet session:…"
      leftSection={<Search size={14} aria-hidden />}
      defaultValue={text}
      error={problem}
      onKeyDown={({ key, currentTarget: { value } }) => {
        if (key === 'Enter') apply(value)
      }}
    />
  )
}

export const FilterField = () => {
  const text = writeTerms(filterOf(runsRoute.useSearch()))
  return <Field key={text} text={text} />
}
