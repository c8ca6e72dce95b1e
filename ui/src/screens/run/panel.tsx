/**
 * The details of one step or of the run: input, output, prompt, cost, history and error.
 *
 * Shows only tabs with data. The URL holds the open tab.
 */
import { Button, Group, Table, Tabs, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import type { Json, Mark, RunDetail, StepDetail } from '../../api/documents.ts'
import { stepQuery, timelineQuery } from '../../api/queries.ts'
import { Data } from '../../parts/data.tsx'
import { Linked } from '../../parts/linked.tsx'
import { ErrorBox, Failed, Loading } from '../../parts/state.tsx'
import { span } from '../../parts/when.tsx'
import { RunTable } from '../runs/run-table.tsx'
import { Prompt, SpentTable, Tools } from './prompt.tsx'
import { Rerun } from './rerun.tsx'
import type { Chosen } from './timeline.tsx'

// The history of a run. Each entry shows its time since the first.

const AT_ONCE = 100

const Row = ({ mark, start }: { readonly mark: Mark; readonly start: number }) => (
  <Table.Tr>
    <Table.Td>{mark.seq}</Table.Td>
    <Table.Td className="quiet">
      <time dateTime={mark.at} title={mark.at}>
        {mark.seq === 0 ? mark.at.slice(11, 19) : `+ ${span(Date.parse(mark.at) - start)}`}
      </time>
    </Table.Td>
    <Table.Td>{mark.step ?? ''}</Table.Td>
    <Table.Td>
      <Linked text={mark.text} />
    </Table.Td>
  </Table.Tr>
)

/** History of one step. With null: of the run and all its steps. */
const Facts = ({ marks, step }: { readonly marks: readonly Mark[]; readonly step: string | null }) => {
  const [most, setMost] = useState(AT_ONCE)
  const start = Date.parse(marks[0]?.at ?? '')
  const all = step === null ? marks : marks.filter((mark) => mark.step === step)
  const rest = all.length - most
  return (
    <>
      <Table aria-label="History" className="rows">
        <Table.Thead>
          <Table.Tr>
            <Table.Th>#</Table.Th>
            <Table.Th>Time</Table.Th>
            <Table.Th>Step</Table.Th>
            <Table.Th>What happened</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {all.slice(0, most).map((mark) => (
            <Row key={mark.seq} mark={mark} start={start} />
          ))}
        </Table.Tbody>
      </Table>
      {rest > 0 && (
        <Button variant="subtle" size="compact-sm" mt="xs" onClick={() => setMost(most + 10 * AT_ONCE)}>
          Show more ({rest.toLocaleString('en')} left)
        </Button>
      )}
    </>
  )
}

interface Tab {
  readonly name: string
  readonly label: string
  readonly show: () => ReactNode
}

const Value = ({
  value,
  leftOut,
  none,
}: {
  readonly value: Json
  readonly leftOut: number | null
  readonly none: string
}) => {
  if (leftOut !== null)
    return <Text className="quiet">Too long to show: {leftOut.toLocaleString('en')} characters.</Text>
  return value === null ? <Text className="quiet">{none}</Text> : <Data value={value} />
}

const StepError = ({ error }: { readonly error: NonNullable<StepDetail['error']> }) => (
  <ErrorBox title={<Linked text={error.message} />} hint={error.hint} code={error.code} />
)

const FactsOf = ({ run, step }: Chosen) => {
  const { data, error, refetch } = useQuery(timelineQuery(run))
  if (data === undefined) return error === null ? <Loading /> : <Failed error={error} again={() => void refetch()} />
  return <Facts key={`${run} ${step}`} marks={data.marks} step={step} />
}

const stepTabs = (detail: StepDetail): readonly Tab[] => {
  const { run, step, input, output, left_out, prompt, tools, spent, notes, error } = detail
  const isAsked = prompt !== null || tools.length > 0
  const asked = (
    <>
      {prompt !== null && <Prompt prompt={prompt} />}
      {tools.length > 0 && <Tools tools={tools} />}
    </>
  )
  const given = <Value value={input} leftOut={left_out.input} none="No input recorded." />
  const answered = <Value value={output} leftOut={left_out.output} none="No output recorded." />
  return [
    { name: 'input', label: 'Input', show: () => given },
    { name: 'output', label: 'Output', show: () => answered },
    ...(isAsked ? [{ name: 'prompt', label: 'Prompt and tools', show: () => asked }] : []),
    ...(spent.length > 0
      ? [{ name: 'spent', label: 'Tokens and cost', show: () => <SpentTable spent={spent} notes={notes} /> }]
      : []),
    { name: 'facts', label: 'History', show: () => <FactsOf run={run} step={step} /> },
    ...(error === null ? [] : [{ name: 'error', label: 'Error', show: () => <StepError error={error} /> }]),
  ]
}

const runTabs = (run: RunDetail): readonly Tab[] => [
  ...(run.children.length === 0
    ? []
    : [
        {
          name: 'children',
          label: `Child runs (${run.children.length})`,
          show: () => <RunTable runs={run.children} label="Child runs" />,
        },
      ]),
]

/** The open tab. Default: the error if there is one, else the history of a run or the output of a step. */
const openTab = (tabs: readonly Tab[], wanted: string | undefined, { step, error }: StepDetail): string => {
  if (tabs.some(({ name }) => name === wanted)) return wanted ?? ''
  if (error !== null) return 'error'
  return step === null ? 'facts' : 'output'
}

export interface PanelProps {
  readonly run: RunDetail
  readonly chosen: Chosen
  readonly tab: string | undefined
  readonly open: (tab: string) => void
}

export const Panel = ({ run, chosen, tab, open }: PanelProps) => {
  const { data: detail, error, refetch } = useQuery(stepQuery(chosen.run, chosen.step))
  if (detail === undefined) return error === null ? <Loading /> : <Failed error={error} again={() => void refetch()} />
  const isRun = chosen.step === null && chosen.run === run.id
  const tabs = [...stepTabs(detail), ...(isRun ? runTabs(run) : [])]
  return (
    <section aria-label="Details" className="details">
      <Group justify="space-between">
        <h2>{chosen.step ?? 'Run details'}</h2>
        <Rerun id={chosen.run} from={chosen.step} />
      </Group>
      <Tabs value={openTab(tabs, tab, detail)} onChange={(name) => name !== null && open(name)} keepMounted={false}>
        <Tabs.List>
          {tabs.map(({ name, label }) => (
            <Tabs.Tab key={name} value={name}>
              {label}
            </Tabs.Tab>
          ))}
        </Tabs.List>
        {tabs.map(({ name, show }) => (
          <Tabs.Panel key={name} value={name} pt="sm">
            {show()}
          </Tabs.Panel>
        ))}
      </Tabs>
    </section>
  )
}
