/** JSON as text, folded when it is long. */
import { Code, Spoiler } from '@mantine/core'
import type { Json } from '../api/documents.ts'

const FOLDED_HEIGHT = 180

export const Data = ({ value }: { readonly value: Json }) => (
  <Spoiler maxHeight={FOLDED_HEIGHT} showLabel="Show all" hideLabel="Show less">
    <Code block className="data" tabIndex={0}>
      {JSON.stringify(value, null, 2)}
    </Code>
  </Spoiler>
)
