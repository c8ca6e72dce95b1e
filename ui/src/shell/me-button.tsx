/** Who sits here, at the top of every screen: said by the person on loopback, by the server where people log in. */
import { Button, Popover, Stack, Text, TextInput } from '@mantine/core'
import { User } from 'lucide-react'
import { useState } from 'react'
import type { WhoAmI } from '../api/documents.ts'
import { logOut } from '../api/login.ts'
import { becomeMe, useLogin, useMe } from '../api/me.ts'
import { focusAtOnce } from '../parts/focus-at-once.ts'
import { LoginFacts } from '../parts/login-facts.tsx'
import { complain } from '../parts/say.ts'

/** On loopback nobody logs in: a decision still names a person. */
const SayWho = ({ done }: { readonly done: () => void }) => {
  const me = useMe()
  const [name, setName] = useState(me.name)
  const [groups, setGroups] = useState(me.groups)
  const save = (event: { preventDefault(): void }): void => {
    event.preventDefault()
    becomeMe({ name, groups })
    done()
  }
  return (
    <form onSubmit={save}>
      <Stack gap="xs">
        <TextInput
          label="Your name"
          size="xs"
          ref={focusAtOnce}
          value={name}
          onChange={(e) => setName(e.currentTarget.value)}
        />
        <TextInput
          label="Your groups"
          placeholder="sales, leads"
          size="xs"
          value={groups}
          onChange={(e) => setGroups(e.currentTarget.value)}
        />
        <Button type="submit" size="xs">
          That is me
        </Button>
      </Stack>
    </form>
  )
}

const LoggedIn = ({ login }: { readonly login: WhoAmI }) => (
  <Stack gap="xs">
    <Text fw={650}>{login.id}</Text>
    <LoginFacts login={login} />
    <Button size="xs" ref={focusAtOnce} onClick={() => void logOut().catch(complain)}>
      Log out
    </Button>
  </Stack>
)

/** Without a trap for the focus: it would take it back a moment after a quick person has moved it. */
export const MeButton = () => {
  const me = useMe()
  const login = useLogin()
  const [open, setOpen] = useState(false)
  return (
    <Popover opened={open} onChange={setOpen} returnFocus position="bottom-end">
      <Popover.Target>
        <Button
          variant="subtle"
          size="compact-sm"
          leftSection={<User size={16} aria-hidden />}
          onClick={() => setOpen(!open)}
        >
          {me.name === '' ? 'Who are you?' : me.name}
        </Button>
      </Popover.Target>
      <Popover.Dropdown>
        {login === null ? <SayWho done={() => setOpen(false)} /> : <LoggedIn login={login} />}
      </Popover.Dropdown>
    </Popover>
  )
}
