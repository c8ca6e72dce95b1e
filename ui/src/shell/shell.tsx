/** The frame around every screen: navigation, top bar, connection state, global shortcuts. */
import { Badge, Button, Group, Stack, Text, Title, Tooltip, useMantineColorScheme } from '@mantine/core'
import { useMediaQuery } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import { Link, Outlet, useRouter } from '@tanstack/react-router'
import { Command, Moon, Sun, SunMoon } from 'lucide-react'
import { useEffect, useState } from 'react'
import { mountPath } from '../api/client.ts'
import { live } from '../api/live.ts'
import { useMe } from '../api/me.ts'
import { healthQuery, taskCountsQuery } from '../api/queries.ts'
import { complain, say } from '../parts/say.ts'
import { beginToGo, GO_MS, goBy, letter } from '../parts/typing.ts'
import { useKeys } from '../parts/use-keys.ts'
import { KeySheet } from './key-sheet.tsx'
import { MeButton } from './me-button.tsx'
import { openPalette, Palette } from './palette.tsx'
import { SCREENS } from './screens.ts'
import { StopBanner } from './stop-banner.tsx'

/** Copies the id of the focused row, or else of the object on the screen. */
const copyId = async (): Promise<void> => {
  const near = document.activeElement?.closest<HTMLElement>('[data-id]')
  const id = (near ?? document.querySelector<HTMLElement>('[data-id]'))?.dataset['id']
  if (id === undefined) return
  await navigator.clipboard.writeText(id)
  say('teal', 'Copied', id)
}

const useShellKeys = (openSheet: () => void): void => {
  const router = useRouter()
  const bindings = Object.fromEntries(
    SCREENS.map(({ key, to }) => [`g ${key}`, goBy(() => void router.navigate({ to }))]),
  )
  const keys = {
    ...bindings,
    'Shift+?': letter(openSheet),
    '?': letter(openSheet),
    '/': letter(() => document.querySelector<HTMLInputElement>('[data-filter]')?.focus()),
    g: beginToGo,
    c: letter(() => void copyId().catch(complain)),
    '$mod+k': (event: KeyboardEvent) => {
      event.preventDefault()
      openPalette()
    },
  }
  useKeys(keys, { timeout: GO_MS })
}

const LiveDot = () => {
  const [state, setState] = useState(live.state)
  useEffect(() => live.watch(setState), [])
  const isLive = state === 'live'
  return (
    <Tooltip label={isLive ? 'Updates appear automatically' : "Can't reach the server. Trying again."}>
      <span className="live" data-live={isLive} role="status">
        <span aria-hidden className="dot" />
        {isLive ? 'Live' : 'Reconnecting'}
      </span>
    </Tooltip>
  )
}

const SCHEMES = {
  auto: { next: 'light', icon: SunMoon, label: 'Auto' },
  light: { next: 'dark', icon: Sun, label: 'Light' },
  dark: { next: 'auto', icon: Moon, label: 'Dark' },
} as const

const SchemeButton = () => {
  const { colorScheme, setColorScheme } = useMantineColorScheme()
  const { next, icon: Icon, label } = SCHEMES[colorScheme]
  return (
    <Button
      variant="subtle"
      size="compact-sm"
      leftSection={<Icon size={16} aria-hidden />}
      onClick={() => setColorScheme(next)}
      aria-label={`Theme: ${label}. Switch to ${next}`}
    >
      {label}
    </Button>
  )
}

const Waiting = () => {
  const { data } = useQuery(taskCountsQuery(useMe()))
  if (data === undefined) return null
  const { more, ...counts } = data
  const count = Object.values(counts).reduce((sum, some) => sum + some, 0)
  return count === 0 ? null : (
    <span className="count">
      {/* Above a limit the server only says “at least”. */}
      {`${count}${more.length > 0 ? '+' : ''}`}
      <span className="unseen"> waiting</span>
    </span>
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
        {to === '/inbox' && <Waiting />}
      </Link>
    ))}
  </nav>
)

export const Shell = () => {
  const [sheet, setSheet] = useState(false)
  useShellKeys(() => setSheet(true))
  const { data: health } = useQuery(healthQuery)
  // On a narrow page `main` scrolls, so it must be focusable by keyboard.
  const isNarrow = useMediaQuery('(max-width: 48rem)')
  return (
    <div className="frame">
      <a className="skip" href="#main">
        Skip to content
      </a>
      <Rail />
      <section className="top" aria-label="Top bar">
        <Group gap="sm">
          {health !== undefined && !health.durable && (
            <Badge variant="outline" color="gray" tt="none" className="label">
              In memory only
            </Badge>
          )}
          {health?.simulated === true && (
            <Link to="/settings" search={{}} title={health.simulated_because ?? ''}>
              <Badge variant="outline" color="gray" tt="none" className="label">
                Simulated models
              </Badge>
            </Link>
          )}
          {health?.status === 'unavailable' && (
            <Link to="/settings" search={{}} title={health.reasons.join('\n')}>
              Server not ready
            </Link>
          )}
        </Group>
        <Group gap="md">
          <LiveDot />
          <MeButton />
          <Button
            variant="subtle"
            size="compact-sm"
            leftSection={<Command size={14} aria-hidden />}
            onClick={openPalette}
            aria-keyshortcuts="Control+K"
          >
            Search
          </Button>
          <Group gap="md" className="only-wide">
            <Button variant="subtle" size="compact-sm" onClick={() => setSheet(true)} aria-keyshortcuts="?">
              Shortcuts
            </Button>
            <SchemeButton />
          </Group>
        </Group>
      </section>
      <StopBanner />
      <main id="main" tabIndex={isNarrow ? 0 : -1}>
        <Outlet />
      </main>
      <Palette />
      <KeySheet opened={sheet} close={() => setSheet(false)} />
    </div>
  )
}

export const NotFound = () => (
  <Stack gap="xs" p="xl">
    <Title order={1}>Page not found</Title>
    <Text>Choose a screen from the menu.</Text>
  </Stack>
)
