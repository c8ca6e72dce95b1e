/** Facts in plain words, each at its distance from the first: that is what one asks of a run. */
import { Button, Table } from '@mantine/core'
import { useState } from 'react'
import type { Mark } from '../../api/documents.ts'
import { Linked } from '../../parts/linked.tsx'
import { span } from '../../parts/when.tsx'

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

/** Of one step, or with null of the run and all its steps. */
export const Facts = ({ marks, step }: { readonly marks: readonly Mark[]; readonly step: string | null }) => {
  const [most, setMost] = useState(AT_ONCE)
  const start = Date.parse(marks[0]?.at ?? '')
  const all = step === null ? marks : marks.filter((mark) => mark.step === step)
  const rest = all.length - most
  return (
    <>
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
          {all.slice(0, most).map((mark) => (
            <Row key={mark.seq} mark={mark} start={start} />
          ))}
        </Table.Tbody>
      </Table>
      {rest > 0 && (
        <Button variant="subtle" size="compact-sm" mt="xs" onClick={() => setMost(most + 10 * AT_ONCE)}>
          Show more ({rest.toLocaleString('en')} are left)
        </Button>
      )}
    </>
  )
}
