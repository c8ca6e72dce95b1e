/** The prompt, tool calls and cost of a model call. Model output is shown as plain text, never as markup. */
import { Stack, Table, Text } from '@mantine/core'
import type { Json, StepDetail } from '../../api/documents.ts'
import { Data } from '../../parts/data.tsx'
import { callsOf, costOf, tokens } from '../costs/figures.ts'

const ROLES = { user: 'Input', agent: 'Agent', tool: 'Tool' } as const

const Said = ({ content }: { readonly content: Json }) =>
  typeof content === 'string' ? <div className="said">{content}</div> : <Data value={content} />

export const Prompt = ({ prompt }: { readonly prompt: NonNullable<StepDetail['prompt']> }) => (
  <Stack gap="sm">
    <div>
      <Text fw={600}>Instructions</Text>
      <div className="said">{prompt.system}</div>
    </div>
    {prompt.tools.length > 0 && (
      <div>
        <Text fw={600}>Available tools</Text>
        <dl className="tool-list">
          {prompt.tools.map(({ name, description }) => (
            <div key={name}>
              <dt>{name}</dt>
              <dd>{description}</dd>
            </div>
          ))}
        </dl>
      </div>
    )}
    <div>
      <Text fw={600}>Messages</Text>
      {prompt.messages.map(({ role, content }, i) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: messages keep their order and never change
        <div key={i} className="message">
          <span className="quiet">{ROLES[role]}</span>
          <Said content={content} />
        </div>
      ))}
    </div>
  </Stack>
)

export const Tools = ({ tools }: { readonly tools: StepDetail['tools'] }) => (
  <Stack gap="sm" mt="sm">
    <Text fw={600}>Tool calls</Text>
    {tools.map(({ tool, input, step, output }, i) => (
      // biome-ignore lint/suspicious/noArrayIndexKey: calls keep their order and never change
      <div key={i}>
        <Text>{tool}</Text>
        <Data value={input} />
        <Text className="quiet">{step === null ? 'Not executed yet.' : `Result from step ${step}:`}</Text>
        {step !== null && <Said content={output} />}
      </div>
    ))}
  </Stack>
)

export const SpentTable = ({ spent, notes }: Pick<StepDetail, 'spent' | 'notes'>) => (
  <Stack gap="sm">
    <Table aria-label="Tokens and cost" className="rows" maw="48rem">
      <Table.Thead>
        <Table.Tr>
          <Table.Th>Model</Table.Th>
          <Table.Th ta="right">Calls</Table.Th>
          <Table.Th ta="right">Tokens in</Table.Th>
          <Table.Th ta="right">Tokens out</Table.Th>
          <Table.Th ta="right">Cost</Table.Th>
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {spent.map((row) => (
          <Table.Tr key={`${row.model} ${row.simulated}`}>
            <Table.Td>
              {row.model} {row.simulated && <span className="tag">simulated</span>}
            </Table.Td>
            <Table.Td ta="right">{callsOf(row)}</Table.Td>
            <Table.Td ta="right">{tokens(row.input_tokens)}</Table.Td>
            <Table.Td ta="right">{tokens(row.output_tokens)}</Table.Td>
            <Table.Td ta="right">{costOf(row)}</Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
    {notes.map((note) => (
      <Text key={note} className="quiet">
        {note}
      </Text>
    ))}
  </Stack>
)
