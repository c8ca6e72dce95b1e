/** Buttons that copy an object as its id, its JSON, a CLI command or a curl request. */
import { Button, Group } from '@mantine/core'
import { useClipboard } from '@mantine/hooks'
import { mountPath } from '../api/client.ts'
import { isLogin } from '../api/me.ts'
import { curlOf } from './curl.ts'

export interface CopyAsProps {
  readonly id: string
  /** The object as the server sent it. */
  readonly document: unknown
  readonly command: string
  /** Path of the request, starting with /api. */
  readonly path: string
}

/** Builds the text on click: the JSON of a run may be long. */
const Copy = ({ label, text }: { readonly label: string; readonly text: () => string }) => {
  const { copy, copied } = useClipboard({ timeout: 1_500 })
  return (
    <Button size="compact-xs" variant="default" aria-label={`Copy ${label}`} onClick={() => copy(text())}>
      {copied ? 'Copied' : label}
    </Button>
  )
}

export const CopyAs = ({ id, document, command, path }: CopyAsProps) => (
  <Group gap={4} role="group" aria-label="Copy as">
    <Copy label="id" text={() => id} />
    <Copy label="JSON" text={() => JSON.stringify(document, null, 2)} />
    <Copy label="CLI" text={() => command} />
    <Copy label="curl" text={() => curlOf(window.location.origin, `${mountPath()}${path}`, isLogin())} />
  </Group>
)
