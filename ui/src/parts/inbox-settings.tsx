/** Inbox settings of the current browser. */
import { Switch } from '@mantine/core'
import { switchNotices, useNotices } from '../api/notices.ts'
import { preference } from './preference.ts'
import { say } from './say.ts'

/** Whether the next task opens after a submit. */
export const opensNext = preference('trihand-next', true)

const turnNotices = async (on: boolean): Promise<void> => {
  if (!(await switchNotices(on)))
    say('red', 'Notifications blocked', 'Your browser blocks notifications from this page.')
}

export const InboxSettings = () => (
  <>
    <Switch
      label="Open next task"
      description="After you submit. When off, you return to the list."
      checked={opensNext.use()}
      onChange={(e) => opensNext.turn(e.currentTarget.checked)}
    />
    <Switch
      label="Desktop notifications"
      description="One notification for each new task, while a tab is open."
      checked={useNotices()}
      onChange={(e) => void turnNotices(e.currentTarget.checked)}
    />
  </>
)
