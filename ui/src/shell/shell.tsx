/** The frame of every screen: rail, badges, the live dot, keys that work anywhere. */

import { Badge, Button, Group, Stack, Text, Title, Tooltip, useMantineColorScheme } from '@mantine/core'
import { spotlight } from '@mantine/spotlight'
import { useQuery } from '@tanstack/react-query'
import { Link, Outlet, useRouter } from '@tanstack/react-router'
import { Command, Moon, Sun, SunMoon } from 'lucide-react'
import { useEffect, useState } from 'react'
import { tinykeys } from 'tinykeys'
import { mountPath } from '../api/client.ts'
import { live } from '../api/live.ts'
import { healthQuery } from '../api/queries.ts'
import { areKeysAsleep } from '../parts/typing.ts'
import { KeySheet } from './key-sheet.tsx'
import { MeButton } from './me-button.tsx'
import { Palette } from './palette.tsx'
import { SCREENS } from './screens.ts'

/** Single letters sleep while somebody types. */
const unlessTyping =
  (act: () => void) =>
  (event: KeyboardEvent): void => {
    if (areKeysAsleep(event.target)) return
    event.preventDefault()
    act()
  }

const useKeys = (openSheet: () => void): void => {
  const router = useRouter()
  useEffect(() => {
    const bindings = Object.fromEntries(
      SCREENS.map(({ key, to }) => [`g ${key}`, unlessTyping(() => void router.navigate({ to }))]),
    )
    const filter = unlessTyping(() => document.querySelector<HTMLInputElement>('[data-filter]')?.focus())
    return tinykeys(window, {
      ...bindings,
      'Shift+?': unlessTyping(openSheet),
      '?': unlessTyping(openSheet),
      '/': filter,
    })
  }, [router, openSheet])
}

const LiveDot = () => {
  const [state, setState] = useState(live.state)
  useEffect(() => live.watch(setState), [])
  const isLive = state === 'live'
  return (
    <Tooltip label={isLive ? 'Changes show by themselves' : 'The server is not reached; trying again'}>
      <span className="live" data-live={isLive} role="status">
        <span aria-hidden className="dot" />
        {isLive ? 'live' : 'reconnecting'}
      </span>
    </Tooltip>
  )
}

const SCHEMES = {
  auto: { next: 'light', icon: SunMoon },
  light: { next: 'dark', icon: Sun },
  dark: { next: 'auto', icon: Moon },
} as const

const SchemeButton = () => {
  const { colorScheme, setColorScheme } = useMantineColorScheme()
  const { next, icon: Icon } = SCHEMES[colorScheme]
  return (
    <Button
      variant="subtle"
      size="compact-sm"
      leftSection={<Icon size={16} aria-hidden />}
      onClick={() => setColorScheme(next)}
      aria-label={`Colours: ${colorScheme}. Change to ${next}`}
    >
      {colorScheme}
    </Button>
  )
}

const Rail = () => (
  <nav className="rail" aria-label="Screens">
    <Link to="/inbox" search={{}} className="brand">
      <img src={`${mountPath()}/icon.svg`} alt="" width={26} height={26} />
      Trihand
    </Link>
    {SCREENS.map(({ to, label, icon: Icon, key }) => (
      <Link key={to} to={to} search={{}} className="screen" aria-keyshortcuts={`g ${key}`}>
        <Icon size={18} aria-hidden />
        {label}
      </Link>
    ))}
  </nav>
)

export const Shell = () => {
  const [sheet, setSheet] = useState(false)
  const [openSheet] = useState(() => () => setSheet(true))
  useKeys(openSheet)
  const { data: health } = useQuery(healthQuery)
  return (
    <div className="frame">
      <a className="skip" href="#main">
        Skip to the content
      </a>
      <Rail />
      <section className="top" aria-label="You and this page">
        <Group gap="sm">
          {health !== undefined && !health.durable && (
            <Badge variant="outline" color="gray" tt="none" className="label">
              nothing is kept
            </Badge>
          )}
          {health?.simulated === true && (
            <Badge variant="outline" color="gray" tt="none" className="label">
              simulated models
            </Badge>
          )}
        </Group>
        <Group gap="md">
          <LiveDot />
          <MeButton />
          <Button
            variant="subtle"
            size="compact-sm"
            leftSection={<Command size={14} aria-hidden />}
            onClick={spotlight.open}
            aria-keyshortcuts="Control+K"
          >
            Go to
          </Button>
          <Button variant="subtle" size="compact-sm" onClick={() => setSheet(true)} aria-keyshortcuts="?">
            Keys
          </Button>
          <SchemeButton />
        </Group>
      </section>
      <main id="main" tabIndex={-1}>
        <Outlet />
      </main>
      <Palette />
      <KeySheet opened={sheet} close={() => setSheet(false)} />
    </div>
  )
}

export const NotFound = () => (
  <Stack gap="xs" p="xl">
    <Title order={1}>Nothing is here</Title>
    <Text>The address leads to no screen. The rail leads to all of them.</Text>
  </Stack>
)
