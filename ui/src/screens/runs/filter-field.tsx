/** The filter in one line, `status:failed handler:greet`: each term a parameter of the address. */
import { TextInput } from '@mantine/core'
import { getRouteApi } from '@tanstack/react-router'
import { Search } from 'lucide-react'
import { useState } from 'react'
import { readTerms, writeTerms } from '../../parts/terms.ts'
import { FILTER_KEYS, filterOf } from './filter.ts'

const runsRoute = getRouteApi('/runs')

/** Made anew when the address changes: it then says what the address says. */
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
