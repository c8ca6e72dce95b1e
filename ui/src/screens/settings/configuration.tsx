/** What the server is set to, by whom, and what each setting is for. Secrets are only said to be set. */
import { Table, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import type { ConfiguredSetting } from '../../api/documents.ts'
import { configurationQuery } from '../../api/queries.ts'
import { Failed, Loading } from '../../parts/state.tsx'
import { WideTable } from '../../parts/wide-table.tsx'

const shownValue = ({ value, source, is_secret }: ConfiguredSetting): string => {
  if (is_secret && source !== 'default') return 'set, not shown'
  return value ?? 'not set'
}

export const Configuration = () => {
  const { data, error, refetch } = useQuery(configurationQuery)
  if (data === undefined) return error === null ? <Loading /> : <Failed error={error} again={() => void refetch()} />
  if (data.items.length === 0)
    return <Text className="quiet">This server is part of another program, which has settings of its own.</Text>
  return (
    <WideTable label="Configuration, scrollable">
      <Table aria-label="Configuration" className="rows" verticalSpacing={4}>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>Name</Table.Th>
            <Table.Th>Value</Table.Th>
            <Table.Th>From</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {data.items.map((setting) => (
            <Table.Tr key={setting.name}>
              <Table.Td className="breaks">
                <code>{setting.name}</code>
                <div className="quiet">{setting.meaning}</div>
              </Table.Td>
              <Table.Td className="breaks">{shownValue(setting)}</Table.Td>
              <Table.Td>{setting.source}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </WideTable>
  )
}
