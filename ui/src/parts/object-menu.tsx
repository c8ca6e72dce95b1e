/**
 * What can be taken along of any object: its id, its JSON, and the command or the request that shows it.
 *
 * Offered to every screen; what an object is called on the command line is the screen's to say.
 */
import { ActionIcon, Menu } from '@mantine/core'
import { Braces, Copy, Ellipsis, Globe, Terminal } from 'lucide-react'
import { mountPath } from '../api/client.ts'
import { useLogin } from '../api/me.ts'
import { curlOf } from './curl.ts'
import { say } from './say.ts'

export interface ObjectMenuProps {
  /** What it is, for whoever hears the page: `the schedule nightly`. */
  readonly what: string
  readonly id: string
  /** Of its JSON: `/api/schedules/nightly`. */
  readonly path: string
  /** After `npx trihand`. */
  readonly cli?: string
}

const copy = async (text: string): Promise<void> => {
  await navigator.clipboard.writeText(text)
  say('teal', 'Copied', text)
}

export const ObjectMenu = ({ what, id, path, cli }: ObjectMenuProps) => {
  const isLogin = useLogin() !== null
  const whole = `${mountPath()}${path}`
  return (
    <Menu position="bottom-end" withinPortal>
      <Menu.Target>
        <ActionIcon variant="subtle" color="gray" size="sm" aria-label={`Take along ${what}`}>
          <Ellipsis size={16} aria-hidden />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Item leftSection={<Copy size={14} aria-hidden />} onClick={() => void copy(id)}>
          Copy id
        </Menu.Item>
        <Menu.Item leftSection={<Braces size={14} aria-hidden />} component="a" href={whole} target="_blank">
          JSON
        </Menu.Item>
        {cli !== undefined && (
          <Menu.Item leftSection={<Terminal size={14} aria-hidden />} onClick={() => void copy(`npx trihand ${cli}`)}>
            Copy as CLI
          </Menu.Item>
        )}
        <Menu.Item
          leftSection={<Globe size={14} aria-hidden />}
          onClick={() => void copy(curlOf(window.location.origin, whole, isLogin))}
        >
          Copy as curl
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  )
}
