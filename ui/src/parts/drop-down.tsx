/** A button that opens a short menu. Choosing an item closes the menu. */
import { Button, Popover } from '@mantine/core'
import type { LucideIcon } from 'lucide-react'
import { type ReactNode, useState } from 'react'

export interface Choice {
  readonly key: string
  readonly label: ReactNode
  readonly icon?: LucideIcon
  readonly isChosen?: boolean
  readonly isOff?: boolean
  readonly choose: () => void
}

export const DropDown = ({
  label,
  icon: Icon,
  choices,
  empty,
}: {
  readonly label: string
  readonly icon: LucideIcon
  readonly choices: readonly Choice[]
  /** Text above the items. Default: none. */
  readonly empty?: string | undefined
}) => {
  const [isOpen, setOpen] = useState(false)
  return (
    <Popover opened={isOpen} onChange={setOpen} position="bottom-end" trapFocus returnFocus withinPortal={false}>
      <Popover.Target>
        <Button
          size="xs"
          variant="default"
          leftSection={<Icon size={14} aria-hidden />}
          onClick={() => setOpen(!isOpen)}
        >
          {label}
        </Button>
      </Popover.Target>
      <Popover.Dropdown aria-label={label} p={4}>
        {empty !== undefined && <p className="quiet drop-empty">{empty}</p>}
        <ul className="drop">
          {choices.map(({ key, label: text, icon: Sign, isChosen = false, isOff = false, choose }) => (
            <li key={key}>
              <button
                type="button"
                data-chosen={isChosen}
                disabled={isOff}
                onClick={() => {
                  setOpen(false)
                  choose()
                }}
              >
                {Sign !== undefined && <Sign size={14} aria-hidden />}
                {text}
              </button>
            </li>
          ))}
        </ul>
      </Popover.Dropdown>
    </Popover>
  )
}
