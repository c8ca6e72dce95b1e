/** The search dialog (Ctrl K): finds screens and handlers by name, and opens the object of a pasted id. */
import '@mantine/spotlight/styles.css'
import { Spotlight, type SpotlightActionData, spotlight } from '@mantine/spotlight'
import { useQuery } from '@tanstack/react-query'
import { useRouter } from '@tanstack/react-router'
import { useState } from 'react'
import { flushSync } from 'react-dom'
import { graphQuery } from '../api/queries.ts'
import { focusAtOnce } from '../parts/focus-at-once.ts'
import { SCREENS } from './screens.ts'

type Router = ReturnType<typeof useRouter>

/** The action for a pasted id. Null: the text is not an id. */
const placeOf = (router: Router, text: string): SpotlightActionData | null => {
  const id = text.trim()
  const action = (label: string, onClick: () => void) => ({ id: `open ${id}`, label, description: id, onClick })
  if (/^run_[0-9a-f-]+$/.test(id))
    return action('Open the run', () => void router.navigate({ to: '/runs/$id', params: { id } }))
  if (/^ses_[0-9a-f-]+$/.test(id))
    return action('Open the session', () => void router.navigate({ to: '/sessions/$id', params: { id } }))
  if (/^tsk_[0-9a-f-]+$/.test(id))
    return action('Open the task', () => void router.navigate({ to: '/inbox', search: { view: 'open', task: id } }))
  return null
}

const useActions = (query: string): SpotlightActionData[] => {
  const router = useRouter()
  const { data: graph } = useQuery(graphQuery)
  const place = placeOf(router, query)
  if (place !== null) return [place]
  const screens = SCREENS.map(({ to, label, key }) => ({
    id: to,
    label,
    description: `g ${key}`,
    onClick: () => void router.navigate({ to }),
  }))
  const hands = (graph?.nodes ?? [])
    .filter(({ modality }) => modality !== null)
    .map(({ id, name, kind }) => ({
      id,
      label: name,
      description: `Runs of this ${kind}`,
      onClick: () => void router.navigate({ to: '/runs', search: { handler: name } }),
    }))
  return [...screens, ...hands]
}

/** Opens synchronously, so that the next key already goes into the search field. */
export const openPalette = (): void => flushSync(() => spotlight.open())

export const Palette = () => {
  const [query, setQuery] = useState('')
  const actions = useActions(query)
  const isId = actions.length === 1
  return (
    <Spotlight
      actions={actions}
      query={query}
      onQueryChange={setQuery}
      shortcut={null}
      title="Search"
      attributes={{ content: { 'aria-label': 'Search' } }}
      limit={8}
      highlightQuery
      overlayProps={{ blur: 0 }}
      // No animation: text typed after Ctrl K belongs to the search field, and shortcuts do not work while a dialog is open.
      transitionProps={{ duration: 0 }}
      clearQueryOnClose
      nothingFound="No results"
      filter={(wanted, all) =>
        isId
          ? all
          : all.filter((one) => 'label' in one && `${one.label}`.toLowerCase().includes(wanted.trim().toLowerCase()))
      }
      searchProps={{ placeholder: 'Screen, handler or id', 'aria-label': 'Search', ref: focusAtOnce }}
    />
  )
}
