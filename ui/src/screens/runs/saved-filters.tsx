/** The saved filters of the user: apply, save, update and remove them. */
import { Button, Group, Modal, Stack, Text, TextInput } from '@mantine/core'
import { useMutation, useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { Bookmark, BookmarkPlus, Trash2 } from 'lucide-react'
import { type FormEvent, useState } from 'react'
import { sendJson } from '../../api/client.ts'
import type { SavedFilter } from '../../api/documents.ts'
import { useMe } from '../../api/me.ts'
import { filtersQuery, queryClient } from '../../api/queries.ts'
import { DropDown } from '../../parts/drop-down.tsx'
import { focusAtOnce } from '../../parts/focus-at-once.ts'
import { complain, say } from '../../parts/say.ts'
import { writeTerms } from '../../parts/terms.ts'
import { filterOf, isFiltered } from './filter.ts'

const runsRoute = getRouteApi('/runs')
const SCREEN = 'runs'

const askAgain = () => queryClient.invalidateQueries({ queryKey: ['filters'] })

const SaveDialog = ({ saved, close }: { readonly saved: readonly SavedFilter[]; readonly close: () => void }) => {
  const terms = filterOf(runsRoute.useSearch())
  const [name, setName] = useState('')
  const known = saved.find((filter) => filter.name === name.trim())
  const { mutate, isPending } = useMutation({
    mutationFn: () => {
      const body = { name: name.trim(), screen: SCREEN, terms }
      return known === undefined
        ? sendJson<SavedFilter>('/api/filters', body)
        : sendJson<SavedFilter>(`/api/filters/${known.id}`, body, { method: 'PUT', match: `"${known.version}"` })
    },
    onSuccess: (filter) => {
      say('teal', 'Saved', filter.name)
      close()
    },
    onError: complain,
    onSettled: askAgain,
  })
  const submit = (event: FormEvent): void => {
    event.preventDefault()
    mutate()
  }
  return (
    <Modal opened onClose={close} title="Save this filter" closeButtonProps={{ 'aria-label': 'Close' }}>
      <form onSubmit={submit}>
        <Stack gap="sm">
          <Text size="sm" className="id">
            {writeTerms(terms)}
          </Text>
          <TextInput
            label="Name"
            required
            data-autofocus
            ref={focusAtOnce}
            maxLength={80}
            value={name}
            onChange={(e) => setName(e.currentTarget.value)}
          />
          <Group justify="flex-end">
            <Button variant="default" onClick={close}>
              Back
            </Button>
            <Button type="submit" loading={isPending}>
              {known === undefined ? 'Save' : 'Update'}
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  )
}

const Named = ({ filter: { name, terms } }: { readonly filter: SavedFilter }) => (
  <span>
    {name} <span className="quiet id">{writeTerms(terms)}</span>
  </span>
)

export const SavedFilters = () => {
  const me = useMe()
  const { data } = useQuery(filtersQuery(me))
  const search = runsRoute.useSearch()
  const navigate = runsRoute.useNavigate()
  const [isSaving, setSaving] = useState(false)
  const { mutate: remove } = useMutation({
    mutationFn: ({ id, version }: SavedFilter) =>
      sendJson(`/api/filters/${id}`, {}, { method: 'DELETE', match: `"${version}"` }),
    onError: complain,
    onSettled: askAgain,
  })
  const saved = data?.items.filter(({ screen }) => screen === SCREEN) ?? []
  const current = writeTerms(filterOf(search))
  const isShown = ({ terms }: SavedFilter): boolean => writeTerms(terms) === current
  return (
    <>
      <DropDown
        label="Saved filters"
        icon={Bookmark}
        empty={saved.length === 0 ? 'No saved filters. Set a filter, then save it here.' : undefined}
        choices={[
          ...saved.map((filter) => ({
            key: filter.id,
            label: <Named filter={filter} />,
            isChosen: isShown(filter),
            choose: () => void navigate({ search: ({ job }) => ({ ...filter.terms, job }) }),
          })),
          {
            key: 'save',
            label: 'Save this filter…',
            icon: BookmarkPlus,
            isOff: !isFiltered(search),
            choose: () => setSaving(true),
          },
          ...saved.filter(isShown).map((filter) => ({
            key: `remove ${filter.id}`,
            label: `Remove “${filter.name}”`,
            icon: Trash2,
            choose: () => remove(filter),
          })),
        ]}
      />
      {isSaving && <SaveDialog saved={saved} close={() => setSaving(false)} />}
    </>
  )
}
