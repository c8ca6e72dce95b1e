/** Why a run does not go on, in one sentence, with what a person can do about it: the task, or a word on a step in doubt. */
import { Alert, Button, Group, Stack, Text } from '@mantine/core'
import type { RunDetail, WaitingOn } from '../../api/documents.ts'
import { useMay } from '../../api/me.ts'
import { Linked } from '../../parts/linked.tsx'
import { When } from '../../parts/when.tsx'
import { hasEnded } from './run-state.ts'
import { useVerb } from './use-verb.ts'

const Doubt = ({ wait, id }: { readonly wait: WaitingOn; readonly id: string }) => {
  const { act, isPending } = useVerb(id)
  const mayOperate = useMay('operator')
  const say = (verdict: string) => act('resolve', { step: wait.step, verdict })
  return (
    <Alert color="orange" variant="outline" title={`Did it happen? ${wait.step ?? ''}`}>
      <Stack gap="xs">
        <Text size="sm">{wait.text}</Text>
        {mayOperate && (
          <Group gap="xs">
            <Button size="xs" loading={isPending} onClick={() => say('happened')}>
              It happened
            </Button>
            <Button size="xs" variant="default" loading={isPending} onClick={() => say('run_again')}>
              Run again
            </Button>
            <Button size="xs" variant="default" loading={isPending} onClick={() => say('abort')}>
              Abort
            </Button>
          </Group>
        )}
      </Stack>
    </Alert>
  )
}

/** The nearest instant at which time alone helps. */
const nextOf = ({ waiting_on }: RunDetail): string | undefined =>
  waiting_on.flatMap(({ until }) => until ?? []).sort()[0]

export const Why = ({ run }: { readonly run: RunDetail }) => {
  const next = nextOf(run)
  if (run.skipped.length === 0 && (hasEnded(run) || run.waiting_on.length === 0)) return null
  return (
    <Stack gap="xs">
      <div className="waits">
        <strong>{hasEnded(run) ? 'What was not done?' : 'Why is it waiting?'}</strong> <Linked text={run.why} />
        {next !== undefined && (
          <span className="quiet">
            {' '}
            Next <When at={next} />.
          </span>
        )}
      </div>
      {run.waiting_on
        .filter(({ kind }) => kind === 'uncertain')
        .map((wait) => (
          <Doubt key={wait.step} wait={wait} id={run.id} />
        ))}
    </Stack>
  )
}
