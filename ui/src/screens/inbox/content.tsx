/** Content as people read it: fields with their names, text as text. Nothing in it is ever markup. */
import { isRecord, type Json } from '../../api/documents.ts'
import type { FieldChange } from './difference.ts'

export const Content = ({ value }: { readonly value: Json }) => {
  if (value === null) return null
  if (!isRecord(value))
    return <div className="text">{typeof value === 'string' ? value : JSON.stringify(value, null, 2)}</div>
  return (
    <dl className="fields">
      {Object.entries(value).map(([name, field]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd className="text">{typeof field === 'string' ? field : JSON.stringify(field, null, 2)}</dd>
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
            // The parts of one text have no name but their place.
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
