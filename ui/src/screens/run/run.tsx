/** One run: why it waits, its bars, its facts, and what a person may do to it. */
import { Alert, Button, Group, Stack, Table, Tabs, Text, Title } from '@mantine/core'
import { useMutation, useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { useState } from 'react'
import { sendJson } from '../../api/client.ts'
import type { Fact, RunDetail, WaitingOn } from '../../api/documents.ts'
import { useMay } from '../../api/me.ts'
import { queryClient, runQuery } from '../../api/queries.ts'
import { Command, CopyText, shortId } from '../../parts/copy.tsx'
import { Data } from '../../parts/data.tsx'
import { Linked } from '../../parts/linked.tsx'
import { complain } from '../../parts/say.ts'
import { Failed, Loading } from '../../parts/state.tsx'
import { Status } from '../../parts/status.tsx'
import { letter } from '../../parts/typing.ts'
import { useKeys } from '../../parts/use-keys.ts'
import { useRowKeys } from '../../parts/use-row-keys.ts'
import { span, When } from '../../parts/when.tsx'
import { RunTable } from '../runs/run-table.tsx'
import { Rerun } from './rerun.tsx'
import { Timeline } from './timeline.tsx'

const runRoute = getRouteApi('/runs/$id')

const ENDED: ReadonlySet<string> = new Set([
  'success',
  'partial',
  'failed',
  'cancelled',
  'skipped',
  'expired',
  'quarantined',
])
const RETRIABLE: ReadonlySet<string> = new Set(['failed', 'cancelled', 'expired', 'quarantined'])

const useVerb = (id: string) =>
  useMutation({
    mutationFn: ({ verb, body }: { readonly verb: string; readonly body: unknown }) =>
      sendJson(`/api/runs/${id}/${verb}`, body),
    onSettled: () => queryClient.invalidateQueries({ queryKey: ['runs'] }),
    onError: complain,
  })

const Doubt = ({ wait, id }: { readonly wait: WaitingOn; readonly id: string }) => {
  const { mutate, isPending } = useVerb(id)
  const mayOperate = useMay('operator')
  const say = (verdict: string) => mutate({ verb: 'resolve', body: { step: wait.step, verdict } })
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

const Waiting = ({ run }: { readonly run: RunDetail }) => (
  <Stack gap="xs">
    {run.waiting_on.map((wait) =>
      wait.kind === 'uncertain' ? (
        <Doubt key={wait.step} wait={wait} id={run.id} />
      ) : (
        <Text key={`${wait.step}`} className="waits">
          {wait.step === null ? '' : <strong>{wait.step} </strong>}
          waits for <Linked text={wait.text} />
          {wait.until !== null && (
            <>
              {' '}
              (<When at={wait.until} />)
            </>
          )}
        </Text>
      ),
    )}
    {run.error !== null && (
      <Alert color="red" variant="outline" title={run.error.code}>
        {run.error.message}
      </Alert>
    )}
  </Stack>
)

/** Each at its distance from the first: that is what one asks of a run. */
const Facts = ({ facts, step }: { readonly facts: readonly Fact[]; readonly step: string | null }) => {
  const start = Date.parse(facts[0]?.at ?? '')
  return (
    <Table aria-label="Facts" className="rows">
      <Table.Thead>
        <Table.Tr>
          <Table.Th>#</Table.Th>
          <Table.Th>At</Table.Th>
          <Table.Th>Step</Table.Th>
          <Table.Th>What happened</Table.Th>
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {facts
          .filter((fact) => step === null || fact.step === step)
          .map((fact) => (
            <Table.Tr key={fact.seq}>
              <Table.Td>{fact.seq}</Table.Td>
              <Table.Td className="quiet">
                <time dateTime={fact.at} title={fact.at}>
                  {fact.seq === 0 ? fact.at.slice(11, 19) : `+ ${span(Date.parse(fact.at) - start)}`}
                </time>
              </Table.Td>
              <Table.Td>{fact.step ?? ''}</Table.Td>
              <Table.Td>
                <Linked text={fact.text} />
              </Table.Td>
            </Table.Tr>
          ))}
      </Table.Tbody>
    </Table>
  )
}

const Verbs = ({ run }: { readonly run: RunDetail }) => {
  const { mutate, isPending } = useVerb(run.id)
  const may = useMay('operator')
  const [canRetry, canCancel] = [may && RETRIABLE.has(run.status), may && !ENDED.has(run.status)]
  useKeys({
    t: letter(() => canRetry && mutate({ verb: 'retry', body: {} })),
    'Shift+C': letter(() => canCancel && mutate({ verb: 'cancel', body: {} })),
  })
  return (
    <Group gap="xs">
      {canRetry && (
        <Button size="xs" loading={isPending} aria-keyshortcuts="t" onClick={() => mutate({ verb: 'retry', body: {} })}>
          Retry
        </Button>
      )}
      {canCancel && (
        <Button
          size="xs"
          variant="default"
          loading={isPending}
          aria-keyshortcuts="Shift+C"
          onClick={() => mutate({ verb: 'cancel', body: {} })}
        >
          Cancel
        </Button>
      )}
    </Group>
  )
}

const Details = ({ run }: { readonly run: RunDetail }) => {
  const [step, setStep] = useState<string | null>(null)
  const facts = run.facts.items
  const choose = (name: string) => setStep((now) => (now === name ? null : name))
  return (
    <>
      <Timeline facts={facts} isOver={ENDED.has(run.status)} chosen={step} choose={choose} />
      <div className="rerun-place">
        <Rerun id={run.id} from={step} />
      </div>
      <Tabs defaultValue="facts" keepMounted={false}>
        <Tabs.List>
          <Tabs.Tab value="facts">{step === null ? 'Facts' : `Facts of ${step}`}</Tabs.Tab>
          <Tabs.Tab value="output">Output</Tabs.Tab>
          <Tabs.Tab value="children">Children ({run.children.length})</Tabs.Tab>
          <Tabs.Tab value="json">JSON</Tabs.Tab>
        </Tabs.List>
        <Tabs.Panel value="facts">
          <Facts facts={facts} step={step} />
          {run.facts.next_cursor !== null && (
            <Text className="quiet">The first {facts.length} facts are shown. All of them:</Text>
          )}
        </Tabs.Panel>
        <Tabs.Panel value="output" pt="sm">
          <Data value={run.output} />
        </Tabs.Panel>
        <Tabs.Panel value="children">
          {run.children.length === 0 ? (
            <Text className="quiet">It called no other handler.</Text>
          ) : (
            <RunTable runs={run.children} label="Children" />
          )}
        </Tabs.Panel>
        <Tabs.Panel value="json" pt="sm">
          <Data value={JSON.parse(JSON.stringify(run))} />
        </Tabs.Panel>
      </Tabs>
      <Command text={`npx trihand runs show ${run.id}`} />
    </>
  )
}

export const Run = () => {
  useRowKeys()
  const { id } = runRoute.useParams()
  const { data: run, error, refetch } = useQuery(runQuery(id))
  if (run === undefined) return error === null ? <Loading /> : <Failed error={error} again={() => void refetch()} />
  return (
    <Stack gap="md" className="screen-body">
      <Group justify="space-between" align="flex-start">
        <div>
          <Group gap="xs">
            <Title order={1} size="h2">
              {run.handler}
            </Title>
            <Status of={run.status} />
          </Group>
          <Group gap={4} className="quiet">
            <span className="id" data-id={run.id}>
              {shortId(run.id)}
            </span>
            <CopyText text={run.id} label="Copy the id" />
            <span>
              began <When at={run.created_at} />
            </span>
          </Group>
        </div>
        <Verbs run={run} />
      </Group>
      <Waiting run={run} />
      <Details run={run} />
    </Stack>
  )
}
