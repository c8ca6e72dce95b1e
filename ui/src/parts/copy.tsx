/** Text that goes into the clipboard with one click: an id, a command. */
import { ActionIcon, CopyButton, Tooltip } from '@mantine/core'
import { Check, Copy } from 'lucide-react'

export const CopyText = ({ text, label }: { readonly text: string; readonly label: string }) => (
  <CopyButton value={text} timeout={1_500}>
    {({ copied, copy }) => (
      <Tooltip label={copied ? 'Copied' : label}>
        <ActionIcon variant="subtle" size="sm" onClick={copy} aria-label={label}>
          {copied ? <Check size={14} aria-hidden /> : <Copy size={14} aria-hidden />}
        </ActionIcon>
      </Tooltip>
    )}
  </CopyButton>
)

/** The last digits tell ids of one moment apart, the first do not. */
export const shortId = (id: string): string => {
  const [prefix = '', digits = id] = id.includes('_') ? [id.slice(0, id.indexOf('_') + 1), id] : ['', id]
  return `${prefix}${digits.slice(-8)}`
}

export const Command = ({ text }: { readonly text: string }) => (
  <span className="command">
    <code>{text}</code>
    <CopyText text={text} label="Copy the command" />
  </span>
)
