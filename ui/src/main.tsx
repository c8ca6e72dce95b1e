/** Entry point of the web app: sets up the theme, queries, live updates and router. */
import '@mantine/core/styles.css'
import '@mantine/notifications/styles.css'
import './styles/frame.css'
import './styles/run.css'
import './styles/runs.css'
import './styles/inbox.css'
import './styles/task.css'
import './styles/graph.css'
import './styles/chat.css'
import './styles/plan.css'
import './styles/sessions.css'
import './styles/costs.css'
import './styles/events.css'
import './styles/schedules.css'
import './styles/narrow.css'
import { MantineProvider } from '@mantine/core'
import { Notifications } from '@mantine/notifications'
import { QueryClientProvider } from '@tanstack/react-query'
import { RouterProvider } from '@tanstack/react-router'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { followChanges } from './api/changes.ts'
import { live } from './api/live.ts'
import { askWhoIAm, watchForTheEnd } from './api/login.ts'
import { notifyOfTasks } from './api/notices.ts'
import { queryClient } from './api/queries.ts'
import { router } from './router.tsx'
import { cssVariables, theme } from './theme.ts'

const nonce = document.querySelector('meta[name="csp-nonce"]')?.getAttribute('content') ?? ''
// A library that the dialogs use reads the nonce only from here.
Object.assign(globalThis, { __webpack_nonce__: nonce })

const App = () => (
  <StrictMode>
    <MantineProvider
      theme={theme}
      cssVariablesResolver={cssVariables}
      defaultColorScheme="auto"
      getStyleNonce={() => nonce}
    >
      <QueryClientProvider client={queryClient}>
        <Notifications position="bottom-right" />
        <RouterProvider router={router} />
      </QueryClientProvider>
    </MantineProvider>
  </StrictMode>
)

const begin = (): void => {
  live.start()
  followChanges()
  notifyOfTasks()
  const root = document.getElementById('root')
  if (root !== null) createRoot(root).render(<App />)
}

watchForTheEnd()
// Load the user first: the page shows only what this user may see.
void askWhoIAm().then(begin)
