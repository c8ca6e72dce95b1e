/** A form for the name and groups of the user. Used only without a login. */
import { Button, Group, Stack, TextInput } from '@mantine/core'
import { useState } from 'react'
import { becomeMe, type Me, useMe } from '../api/me.ts'
import { focusAtOnce } from './focus-at-once.ts'

export interface MeFormProps {
  /** Label of the submit button. */
  readonly submit: string
  readonly done: (me: Me) => void
  /** Focuses the name field. Default: false. */
  readonly isOpened?: boolean
}

export const MeForm = ({ submit, done, isOpened = false }: MeFormProps) => {
  const said = useMe()
  const [name, setName] = useState(said.name)
  const [groups, setGroups] = useState(said.groups)
  const save = (event: { preventDefault(): void }): void => {
    event.preventDefault()
    becomeMe({ name, groups })
    done({ name, groups })
  }
  return (
    <form onSubmit={save}>
      <Stack gap="sm" maw="26rem">
        <TextInput
          label="Your name"
          required
          value={name}
          onChange={(e) => setName(e.currentTarget.value)}
          {...(isOpened && { ref: focusAtOnce })}
        />
        <TextInput
          label="Your groups"
          description="Separate with commas. Tasks of your groups appear in your inbox."
          value={groups}
          onChange={(e) => setGroups(e.currentTarget.value)}
        />
        <Group>
          <Button type="submit" size="xs">
            {submit}
          </Button>
        </Group>
      </Stack>
    </form>
  )
}
