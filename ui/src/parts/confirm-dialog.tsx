/** A confirmation dialog. For a dangerous action the user must type a word first. */
import { Button, Group, Modal, Stack, Text, TextInput } from '@mantine/core'
import { type ReactNode, useState } from 'react'
import { focusAtOnce } from './focus-at-once.ts'

interface Asked {
  readonly title: string
  /** What the action does. */
  readonly text: string
  /** Label of the confirm button. */
  readonly label: string
  /** The word that the user must type. Default: none. */
  readonly word?: string
  readonly close: () => void
  readonly act: () => void
  /** Extra fields. */
  readonly children?: ReactNode
}

export const ConfirmDialog = ({ title, text, label, word, close, act, children }: Asked) => {
  const [typed, setTyped] = useState('')
  const isMeant = word === undefined || typed.trim() === word
  const submit = (event: { preventDefault(): void }): void => {
    event.preventDefault()
    if (!isMeant) return
    act()
    close()
  }
  return (
    <Modal opened onClose={close} title={title} closeButtonProps={{ 'aria-label': 'Close' }}>
      <form onSubmit={submit}>
        <Stack gap="sm">
          <Text size="sm">{text}</Text>
          {children}
          {word !== undefined && (
            <TextInput
              label={`Type ${word} to confirm`}
              autoComplete="off"
              data-autofocus
              ref={focusAtOnce}
              value={typed}
              onChange={(event) => setTyped(event.currentTarget.value)}
            />
          )}
          <Group justify="flex-end">
            <Button variant="default" onClick={close}>
              Back
            </Button>
            <Button type="submit" disabled={!isMeant}>
              {label}
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  )
}
