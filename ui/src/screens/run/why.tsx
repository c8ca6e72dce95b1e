/** Why a run does not go on, in one sentence, with what a person can do about it: the task that asks. */
import { Alert, Button, Stack, Text } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import type { RunDetail, WaitingOn } from '../../api/documents.ts'
import { Linked } from '../../parts/linked.tsx'
import { When } from '../../parts/when.tsx'
import { hasEnded } from './run-state.ts'

/** The task is the only place where it is answered: it has the evidence, the people who may, and the warning. */
const UncertainStep = ({ wait: { step, task } }: { readonly wait: WaitingOn }) => (
  <Alert color="orange" variant="outline" title={`Did it happen? ${step ?? ''}`}>
    <Stack gap="xs" align="flex-start">
      <Text size="sm">
        It is not known whether the effect of this step took place. The run goes on after an answer.
      </Text>
      {task != null && (
        <Button size="xs" renderRoot={(props) => <Link to="/inbox" search={{ view: 'open', task }} {...props} />}>
          Open the question
        </Button>
      )}
    </Stack>
  </Alert>
)

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
          <UncertainStep key={wait.step} wait={wait} />
        ))}
    </Stack>
  )
}
