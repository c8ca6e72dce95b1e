/** What an action requires before it can be submitted: a read warning, a typed name. */
import { Alert, Checkbox, Stack, TextInput } from '@mantine/core'
import type { TaskAction } from '../../api/documents.ts'

type Asked = Pick<TaskAction, 'confirm' | 'warning'>

export interface Confirmed {
  readonly confirm: string
  readonly acknowledged: boolean
}

export const NOT_CONFIRMED: Confirmed = { confirm: '', acknowledged: false }

export const isConfirmed = ({ confirm, warning }: Asked, given: Confirmed): boolean =>
  (confirm === null || given.confirm.trim() === confirm) && (warning === null || given.acknowledged)

/** The confirmation as properties of the request body. */
export const confirmedBody = ({ confirm, acknowledged }: Confirmed): object => ({
  ...(confirm === '' ? {} : { confirm: confirm.trim() }),
  ...(acknowledged ? { acknowledged } : {}),
})

interface ConfirmationProps {
  readonly action: Asked
  readonly given: Confirmed
  readonly change: (given: Confirmed) => void
}

export const Confirmation = ({ action: { confirm, warning }, given, change }: ConfirmationProps) => (
  <>
    {warning !== null && (
      <Alert color="red" variant="outline" title="This may happen twice">
        <Stack gap="xs">
          {warning}
          <Checkbox
            label="I understand, continue anyway"
            checked={given.acknowledged}
            onChange={(e) => change({ ...given, acknowledged: e.currentTarget.checked })}
          />
        </Stack>
      </Alert>
    )}
    {confirm !== null && (
      <TextInput
        label={`Type ${confirm} to confirm`}
        required
        autoComplete="off"
        value={given.confirm}
        onChange={(e) => change({ ...given, confirm: e.currentTarget.value })}
      />
    )}
  </>
)
