/** How the inbox behaves for whoever sits here. */
import { Switch } from '@mantine/core'
import { switchNotices, useNotices } from '../api/notices.ts'
import { preference } from './preference.ts'
import { say } from './say.ts'

/** After a submit the next task opens by itself. */
export const opensNext = preference('trihand-next', true)

const turnNotices = async (on: boolean): Promise<void> => {
  if (!(await switchNotices(on))) say('red', 'Not allowed', 'The browser does not let this page notify you.')
}

export const InboxSettings = () => (
  <>
    <Switch
      label="The next task opens by itself"
      description="After a submit. Off: the list is shown again."
      checked={opensNext.use()}
      onChange={(e) => opensNext.turn(e.currentTarget.checked)}
    />
    <Switch
      label="The browser tells of new tasks"
      description="One notification for each task, from one tab, while a tab is open."
      checked={useNotices()}
      onChange={(e) => void turnNotices(e.currentTarget.checked)}
    />
  </>
)
