/** The user menu in the top bar: the login, or on loopback a form for name and groups. */
import { Button, Popover, Stack, Text } from '@mantine/core'
import { User } from 'lucide-react'
import { useState } from 'react'
import type { WhoAmI } from '../api/documents.ts'
import { logOut } from '../api/login.ts'
import { useLogin, useMe } from '../api/me.ts'
import { focusAtOnce } from '../parts/focus-at-once.ts'
import { LoginFacts } from '../parts/login-facts.tsx'
import { MeForm } from '../parts/me-form.tsx'
import { complain } from '../parts/say.ts'

const LoggedIn = ({ login }: { readonly login: WhoAmI }) => (
  <Stack gap="xs">
    <Text fw={650}>{login.id}</Text>
    <LoginFacts login={login} />
    {login.can_log_out && (
      <Button size="xs" ref={focusAtOnce} onClick={() => void logOut().catch(complain)}>
        Log out
      </Button>
    )}
  </Stack>
)

/** No focus trap: it would move the focus back after a fast user has moved it. */
export const MeButton = () => {
  const me = useMe()
  const login = useLogin()
  const [open, setOpen] = useState(false)
  return (
    <Popover opened={open} onChange={setOpen} returnFocus width={288} position="bottom-end">
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
        {login === null ? (
          <MeForm submit="Continue" isOpened done={() => setOpen(false)} />
        ) : (
          <LoggedIn login={login} />
        )}
      </Popover.Dropdown>
    </Popover>
  )
}
