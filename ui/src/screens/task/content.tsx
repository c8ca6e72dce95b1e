/** Shows JSON content as named fields and plain text. Never renders it as markup. */
import { visibleLines } from '#model/kernel/visible-text.ts'
import { isRecord, type Json } from '../../api/documents.ts'
import type { FieldChange } from './difference.ts'

const isSimple = (value: Json): boolean => typeof value !== 'object' || value === null

/** A list of simple values becomes one line. */
const textOf = (value: Json): string => visibleLines(plainText(value))

const plainText = (value: Json): string => {
  if (typeof value === 'string') return value
  return Array.isArray(value) && value.length > 0 && value.every(isSimple)
    ? value.join(', ')
    : JSON.stringify(value, null, 2)
}

/** A list with more objects than this is shown as text. */
const MOST_BOXES = 50
const isList = (value: Json): value is readonly Json[] =>
  Array.isArray(value) && value.length > 0 && value.length <= MOST_BOXES && value.every(isRecord)

export const Content = ({ value }: { readonly value: Json }) => {
  if (value === null) return null
  if (isList(value))
    return (
      <ol className="list">
        {value.map((one, i) => (
          // The order of the shown items never changes.
          // biome-ignore lint/suspicious/noArrayIndexKey: see above
          <li key={i}>
            <Content value={one} />
          </li>
        ))}
      </ol>
    )
  if (!isRecord(value)) return <div className="text">{textOf(value)}</div>
  return (
    <dl className="fields">
      {Object.entries(value).map(([name, field]) => (
        <div key={name}>
          <dt>{visibleLines(name)}</dt>
          <dd className="text">
            {isList(field) || (isRecord(field) && Object.keys(field).length > 0) ? (
              <Content value={field} />
            ) : (
              textOf(field)
            )}
          </dd>
        </div>
      ))}
    </dl>
  )
}

export const Difference = ({ changes }: { readonly changes: readonly FieldChange[] }) => (
  <dl className="fields">
    {changes.map(({ path, parts }) => (
      <div key={path}>
        <dt>{path === '' ? 'content' : path}</dt>
        <dd className="text">
          {parts.map(({ value, added, removed }, i) => {
            // A part of a text has no id other than its index.
            const key = `${i}${value.slice(0, 8)}`
            if (added) return <ins key={key}>{value}</ins>
            if (removed) return <del key={key}>{value}</del>
            return <span key={key}>{value}</span>
          })}
        </dd>
      </div>
    ))}
  </dl>
)
