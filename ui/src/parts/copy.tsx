/** Copies a text, such as an id or a command, to the clipboard. */
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

/** Shortens an id to its prefix and last 8 digits: ids of the same moment start with the same digits. */
export const shortId = (id: string): string => {
  const [prefix = '', digits = id] = id.includes('_') ? [id.slice(0, id.indexOf('_') + 1), id] : ['', id]
  return `${prefix}${digits.slice(-8)}`
}

export const Command = ({ text }: { readonly text: string }) => (
  <span className="command">
    <code>{text}</code>
    <CopyText text={text} label="Copy command" />
  </span>
)
