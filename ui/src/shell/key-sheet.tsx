/** What the keys do, on one sheet. */
import { Kbd, Modal, Table } from '@mantine/core'

const KEYS: readonly (readonly [string, string])[] = [
  ['g i', 'Inbox'],
  ['g r', 'Runs'],
  ['g g', 'Graph'],
  ['g e', 'Events'],
  ['g h', 'Schedules'],
  ['g w', 'Workers'],
  ['/', 'Filter'],
  ['j  k', 'Next, previous'],
  ['Enter', 'Open'],
  ['Esc', 'Back'],
  ['n  p', 'Bundle: next, previous item'],
  ['a  r', 'Bundle: mark approve, reject'],
  ['e  d', 'Bundle: edit, show the difference'],
  ['Shift A', 'Bundle: mark the rest approved'],
  ['Ctrl Enter', 'Submit'],
  ['?', 'This sheet'],
]

export const KeySheet = ({ opened, close }: { readonly opened: boolean; readonly close: () => void }) => (
  <Modal opened={opened} onClose={close} title="Keys" closeButtonProps={{ 'aria-label': 'Close' }}>
    <Table>
      <Table.Tbody>
        {KEYS.map(([keys, does]) => (
          <Table.Tr key={keys}>
            <Table.Td>
              <Kbd>{keys}</Kbd>
            </Table.Td>
            <Table.Td>{does}</Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  </Modal>
)
