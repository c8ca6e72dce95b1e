/** The three states of a list that has nothing to show: loading, failed, empty. */
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

export const Failed = ({ error, again }: { readonly error: unknown; readonly again: () => void }) => {
  const problem = error instanceof Problem ? error : new Problem('INTERNAL', 0, String(error), null)
  return (
    <Alert m="md" color="red" variant="outline" title={problem.code}>
      <Stack gap="xs" align="flex-start">
        <Text size="sm">{problem.message}</Text>
        {problem.hint !== null && <Text size="sm">{problem.hint}</Text>}
        <Button size="xs" variant="default" onClick={again}>
          Try again
        </Button>
      </Stack>
    </Alert>
  )
}

export const Empty = ({ children, command }: { readonly children: ReactNode; readonly command?: string }) => (
  <Stack gap="sm" p="xl" align="flex-start">
    <Text>{children}</Text>
    {command !== undefined && <Command text={command} />}
  </Stack>
)
