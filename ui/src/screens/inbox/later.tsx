/** Buttons to claim, release or postpone a task. They do not decide it. */
import { Button, Menu } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { askAgain } from '../../api/changes.ts'
import { sendJson } from '../../api/client.ts'
import type { TaskDetail } from '../../api/documents.ts'
import { useMe } from '../../api/me.ts'
import { complain, say } from '../../parts/say.ts'

const HOUR_MS = 3_600_000
const MORNING = 8

/** Eight in the morning, `days` from now, in the local time zone. */
const morningIn = (days: number, now: Date): Date => {
  const at = new Date(now)
  at.setDate(at.getDate() + days)
  at.setHours(MORNING, 0, 0, 0)
  return at
}

const LATER: readonly (readonly [string, (now: Date) => Date])[] = [
  ['In an hour', (now) => new Date(now.getTime() + HOUR_MS)],
  ['In four hours', (now) => new Date(now.getTime() + 4 * HOUR_MS)],
  ['Tomorrow at 8', (now) => morningIn(1, now)],
  ['In a week', (now) => morningIn(7, now)],
]

interface VerbCall {
  readonly verb: 'claim' | 'unclaim' | 'follow-up'
  readonly body?: object
  readonly said: string
}

const useIntent = ({ id, title }: TaskDetail, done: () => void) =>
  useMutation({
    mutationFn: ({ verb, body = {} }: VerbCall) => sendJson(`/api/tasks/${id}/${verb}`, body),
    onSuccess: (_, { verb, body, said }) => {
      say('teal', said, title)
      if (verb === 'follow-up' && body !== undefined && 'until' in body && body.until !== null) done()
    },
    onError: complain,
    onSettled: () => askAgain('tasks', new Set([id])),
  })

export const AtIt = ({ task, done }: { readonly task: TaskDetail; readonly done: () => void }) => {
  const { name } = useMe()
  const { mutate, isPending } = useIntent(task, done)
  if (task.allowed_actions.length === 0) return null
  const isMine = task.claimed_by === name
  const canClaim = task.claimed_by === null || isMine
  return (
    <>
      {canClaim && (
        <Button
          size="compact-sm"
          variant="subtle"
          loading={isPending}
          onClick={() => mutate(isMine ? { verb: 'unclaim', said: 'Released' } : { verb: 'claim', said: 'Claimed' })}
        >
          {isMine ? 'Release' : 'Claim'}
        </Button>
      )}
      {task.put_off_until === null ? (
        <Menu transitionProps={{ duration: 0 }} shadow="md">
          <Menu.Target>
            <Button size="compact-sm" variant="subtle">
              Postpone
            </Button>
          </Menu.Target>
          <Menu.Dropdown>
            {LATER.map(([label, at]) => (
              <Menu.Item
                key={label}
                onClick={() =>
                  mutate({ verb: 'follow-up', body: { until: at(new Date()).toISOString() }, said: 'Postponed' })
                }
              >
                {label}
              </Menu.Item>
            ))}
          </Menu.Dropdown>
        </Menu>
      ) : (
        <Button
          size="compact-sm"
          variant="subtle"
          loading={isPending}
          onClick={() => mutate({ verb: 'follow-up', body: { until: null }, said: 'Back in your inbox' })}
        >
          Move to inbox
        </Button>
      )}
    </>
  )
}
