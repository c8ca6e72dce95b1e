/** What was given with a task, always above its buttons: nobody decides on a title alone. */
import { Text } from '@mantine/core'
import { isRecord, type Json } from '../../api/documents.ts'
import { Content } from './content.tsx'

const isEmpty = (value: Json): boolean =>
  value === null || value === '' || (isRecord(value) && Object.keys(value).length === 0)

export const Context = ({ value }: { readonly value: Json }) =>
  isEmpty(value) ? null : (
    <section aria-label="Context" className="section">
      <Text fw={650} size="sm">
        Context
      </Text>
      <Content value={value} />
    </section>
  )
