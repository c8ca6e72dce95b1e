/** A menu for any object: copies its id, a CLI command or a curl request, or opens its JSON. */
import { ActionIcon, Menu } from '@mantine/core'
import { Braces, Copy, Ellipsis, Globe, Terminal } from 'lucide-react'
import { mountPath } from '../api/client.ts'
import { useLogin } from '../api/me.ts'
import { curlOf } from './curl.ts'
import { say } from './say.ts'

export interface ObjectMenuProps {
  /** Name of the object for screen readers: `schedule nightly`. */
  readonly what: string
  readonly id: string
  /** Path of its JSON: `/api/schedules/nightly`. */
  readonly path: string
  /** The command after `npx trihand`. */
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
        <ActionIcon variant="subtle" color="gray" size="sm" aria-label={`More actions for ${what}`}>
          <Ellipsis size={16} aria-hidden />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Item leftSection={<Copy size={14} aria-hidden />} onClick={() => void copy(id)}>
          Copy id
        </Menu.Item>
        <Menu.Item leftSection={<Braces size={14} aria-hidden />} component="a" href={whole} target="_blank">
          Open JSON
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
