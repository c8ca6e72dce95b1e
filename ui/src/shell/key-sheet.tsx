/** A dialog that lists all keyboard shortcuts. */
import { Kbd, Modal } from '@mantine/core'
import { SCREENS } from './screens.ts'

const KEYS: readonly (readonly [string, string])[] = [
  ['Ctrl K', 'Search, or paste an id'],
  ...SCREENS.map(({ key, label }) => [`g ${key}`, label] as const),
  ['/', 'Filter'],
  ['j  k', 'Next, previous'],
  ['Enter', 'Open'],
  ['x', 'Runs: select the row'],
  ['Esc', 'Inbox: leave the field, then the task'],
  ['c', 'Copy id'],
  ['x', 'Inbox: select the task'],
  ['s  !', 'Task: reassign, escalate'],
  ['n  p', 'Review: next, previous item'],
  ['a  r', 'Review: approve, reject'],
  ['e  d', 'Review: edit, show changes'],
  ['u', 'Review: undo'],
  ['Shift A', 'Review: approve remaining'],
  ['Ctrl Enter', 'Submit'],
  ['t  Shift C', 'Run: retry, cancel'],
  ['←  →', 'Timeline: collapse, expand the row'],
  ['e  w', 'Timeline: expand all, collapse all'],
  ['[  ]', 'Timeline: zoom to start, end at the row'],
  ['0', 'Timeline: zoom out'],
  ['?', 'Show shortcuts'],
]

export const KeySheet = ({ opened, close }: { readonly opened: boolean; readonly close: () => void }) => (
  <Modal
    opened={opened}
    onClose={close}
    title="Shortcuts"
    size="xl"
    // Close without animation: shortcuts do not work while a dialog is open.
    transitionProps={{ exitDuration: 0 }}
    closeButtonProps={{ 'aria-label': 'Close' }}
  >
    <dl className="keys">
      {KEYS.map(([keys, does]) => (
        <div key={`${keys} ${does}`}>
          <dt>
            <Kbd>{keys}</Kbd>
          </dt>
          <dd>{does}</dd>
        </div>
      ))}
    </dl>
  </Modal>
)
