/** What the keys do, on one sheet. */
import { Kbd, Modal } from '@mantine/core'
import { SCREENS } from './screens.ts'

const KEYS: readonly (readonly [string, string])[] = [
  ['Ctrl K', 'Go anywhere, or paste an id'],
  ...SCREENS.map(({ key, label }) => [`g ${key}`, label] as const),
  ['/', 'Filter'],
  ['j  k', 'Next, previous'],
  ['Enter', 'Open'],
  ['x', 'Runs: choose the row'],
  ['Esc', 'Inbox: leave a field, then the task'],
  ['c', 'Copy the id'],
  ['x', 'Inbox: select, to decide many at once'],
  ['s  !', 'Task: reassign, escalate'],
  ['n  p', 'Bundle: next, previous item'],
  ['a  r', 'Bundle: mark approve, reject'],
  ['e  d', 'Bundle: edit, show the difference'],
  ['u', 'Bundle: undo the last mark'],
  ['Shift A', 'Bundle: mark the rest approved'],
  ['Ctrl Enter', 'Submit'],
  ['t  Shift C', 'Run: retry, cancel'],
  ['←  →', 'Timeline: fold, unfold the row'],
  ['e  w', 'Timeline: unfold all, fold all'],
  ['[  ]', 'Timeline: begin, end with the row'],
  ['0', 'Timeline: fit all of it'],
  ['?', 'This sheet'],
]

export const KeySheet = ({ opened, close }: { readonly opened: boolean; readonly close: () => void }) => (
  <Modal
    opened={opened}
    onClose={close}
    title="Keys"
    size="xl"
    // Gone at once: while a dialog is there, keys are its own.
    transitionProps={{ exitDuration: 0 }}
    closeButtonProps={{ 'aria-label': 'Close' }}
  >
    <dl className="keys">
      {KEYS.map(([keys, does]) => (
        <div key={keys}>
          <dt>
            <Kbd>{keys}</Kbd>
          </dt>
          <dd>{does}</dd>
        </div>
      ))}
    </dl>
  </Modal>
)
