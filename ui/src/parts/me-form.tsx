/** Whoever sits here says who they are: a name, and the groups they are in. Where people log in, nobody is asked. */
import { Button, Group, Stack, TextInput } from '@mantine/core'
import { useState } from 'react'
import { becomeMe, type Me, useMe } from '../api/me.ts'
import { focusAtOnce } from './focus-at-once.ts'

export interface MeFormProps {
  /** The word on its button. */
  readonly submit: string
  readonly done: (me: Me) => void
  /** It was opened to be filled in: what is typed next is the name. */
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
          description="With commas between them. Tasks of a group are in the inbox of everyone in it."
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
