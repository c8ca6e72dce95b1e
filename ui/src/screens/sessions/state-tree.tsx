/** A JSON value as a collapsible tree with the size of each branch. */
import type { Json } from '../../api/documents.ts'

type Part = readonly [string, Json]

const partsOf = (value: Json): readonly Part[] | null => {
  if (typeof value !== 'object' || value === null) return null
  return Array.isArray(value) ? value.map((item: Json, i): Part => [String(i), item]) : Object.entries(value)
}

const OPEN_UP_TO = 8

const Branch = ({ name, value }: { readonly name: string; readonly value: Json }) => {
  const parts = partsOf(value)
  if (parts === null)
    return (
      <li>
        <span className="quiet">{name}:</span> <span className="text">{String(value)}</span>
      </li>
    )
  return (
    <li>
      <details open={parts.length <= OPEN_UP_TO}>
        <summary>
          {name} <span className="quiet">({parts.length})</span>
        </summary>
        <Branches parts={parts} />
      </details>
    </li>
  )
}

const Branches = ({ parts }: { readonly parts: readonly Part[] }) => (
  <ul className="state-tree">
    {parts.map(([name, value]) => (
      <Branch key={name} name={name} value={value} />
    ))}
  </ul>
)

export const StateTree = ({ value }: { readonly value: Json }) => {
  const parts = partsOf(value)
  if (parts === null) return <span className="text">{String(value)}</span>
  return parts.length === 0 ? <span className="quiet">empty</span> : <Branches parts={parts} />
}
