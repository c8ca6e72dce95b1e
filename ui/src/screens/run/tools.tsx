/** What stands over the timeline: bars or table, all folds at once, and what the patterns mean. */
import { Button, Group } from '@mantine/core'
import type { State } from './bars.ts'
import { Legend } from './states.tsx'

export interface ToolsProps {
  readonly isTable: boolean
  readonly showTable: (isTable: boolean) => void
  readonly unfoldAll: () => void
  readonly foldAll: () => void
  /** Null: there is no idle time; else whether some of it is folded. */
  readonly isIdleFolded: boolean | null
  readonly toggleIdle: () => void
  /** Null: all of the axis is seen. */
  readonly fit: (() => void) | null
  readonly states: ReadonlySet<State>
}

export const Tools = ({
  isTable,
  showTable,
  unfoldAll,
  foldAll,
  isIdleFolded,
  toggleIdle,
  fit,
  states,
}: ToolsProps) => (
  <Group gap="xs" className="tools">
    <Button.Group>
      <Button size="compact-xs" variant="default" aria-pressed={!isTable} onClick={() => showTable(false)}>
        Bars
      </Button>
      <Button size="compact-xs" variant="default" aria-pressed={isTable} onClick={() => showTable(true)}>
        Table
      </Button>
    </Button.Group>
    <Button size="compact-xs" variant="subtle" aria-keyshortcuts="e" onClick={unfoldAll}>
      Unfold all
    </Button>
    <Button size="compact-xs" variant="subtle" aria-keyshortcuts="w" onClick={foldAll}>
      Fold all
    </Button>
    {isIdleFolded !== null && !isTable && (
      <Button size="compact-xs" variant="subtle" onClick={toggleIdle}>
        {isIdleFolded ? 'Show idle time' : 'Fold idle time'}
      </Button>
    )}
    {fit !== null && !isTable && (
      <Button size="compact-xs" variant="light" aria-keyshortcuts="0" onClick={fit}>
        Fit
      </Button>
    )}
    {!isTable && <Legend states={states} />}
  </Group>
)
