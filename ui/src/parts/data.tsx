/** Shows JSON as text, shortened if it is long. */
import { Button, Code } from '@mantine/core'
import { useState } from 'react'
import { visibleLines } from '#model/kernel/visible-text.ts'
import type { Json } from '../api/documents.ts'

const FOLDED_LINES = 12

/** Not a landmark region: a page may have many of these boxes. */
export const Data = ({ value }: { readonly value: Json }) => {
  const [isOpen, setOpen] = useState(false)
  const lines = visibleLines(JSON.stringify(value, null, 2)).split('\n')
  const isLong = lines.length > FOLDED_LINES
  const shown = isLong && !isOpen ? [...lines.slice(0, FOLDED_LINES - 1), '…'] : lines
  return (
    <>
      <Code block className="data" tabIndex={0}>
        {shown.join('\n')}
      </Code>
      {isLong && (
        <Button variant="subtle" size="compact-xs" mt={4} aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
          {isOpen ? 'Show less' : `Show all ${lines.length} lines`}
        </Button>
      )}
    </>
  )
}
