/** What a list shows instead of rows: loading, failed or empty. Also the box that shows any error. */
import { Alert, Button, Skeleton, Stack, Text } from '@mantine/core'
import type { ReactNode } from 'react'
import { Problem } from '../api/client.ts'
import { Command } from './copy.tsx'

const LOADING_ROWS = ['a', 'b', 'c', 'd', 'e']

export const Loading = () => (
  <Stack gap="xs" p="md" aria-busy="true">
    {LOADING_ROWS.map((row) => (
      <Skeleton key={row} height={28} />
    ))}
  </Stack>
)

interface ErrorBoxProps {
  /** The sentence, shown as the title. */
  readonly title: ReactNode
  /** More text below the title. */
  readonly text?: string | null
  readonly hint?: string | null
  readonly code?: string | null
  readonly m?: string
  readonly children?: ReactNode
}

/** An error: the sentence first, then what to do about it, then its code. */
export const ErrorBox = ({ title, text = null, hint = null, code = null, m = '0', children }: ErrorBoxProps) => (
  <Alert m={m} color="red" variant="outline" title={title}>
    <Stack gap="xs" align="flex-start">
      {text !== null && <Text size="sm">{text}</Text>}
      {hint !== null && <Text size="sm">{hint}</Text>}
      {code !== null && <Text className="quiet id">{code}</Text>}
      {children}
    </Stack>
  </Alert>
)

/** The props of an error box for any error. */
export const shownError = (error: unknown): Pick<ErrorBoxProps, 'title' | 'hint' | 'code'> => {
  if (error instanceof Problem) return { title: error.message, hint: error.hint, code: error.code }
  return { title: error instanceof Error ? error.message : String(error) }
}

export const Failed = ({ error, again }: { readonly error: unknown; readonly again: () => void }) => (
  <ErrorBox m="md" {...shownError(error)}>
    <Button size="xs" variant="default" onClick={again}>
      Try again
    </Button>
  </ErrorBox>
)

export const Empty = ({ children, command }: { readonly children: ReactNode; readonly command?: string }) => (
  <Stack gap="sm" p="xl" align="flex-start">
    <Text>{children}</Text>
    {command !== undefined && <Command text={command} />}
  </Stack>
)
