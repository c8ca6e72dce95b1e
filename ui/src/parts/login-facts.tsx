/** A table with the kind, roles, groups and tenant of a login. */
import { Table } from '@mantine/core'
import type { WhoAmI } from '../api/documents.ts'

const listed = (words: readonly string[]): string => (words.length === 0 ? 'none' : words.join(', '))

export const LoginFacts = ({ login: { kind, roles, groups, tenant } }: { readonly login: WhoAmI }) => (
  <Table aria-label="Your login" withRowBorders={false} verticalSpacing={2}>
    <Table.Tbody>
      {[
        ['Kind', kind],
        ['Roles', listed(roles)],
        ['Groups', listed(groups)],
        ['Tenant', tenant],
      ].map(([name, value]) => (
        <Table.Tr key={name}>
          <Table.Th scope="row" fw={400}>
            {name}
          </Table.Th>
          <Table.Td>{value}</Table.Td>
        </Table.Tr>
      ))}
    </Table.Tbody>
  </Table>
)
