/**
 * The value at a dotted path of a JSON text in canonical form: a wait's match is compared with an event in this form.
 *
 * Own properties only; keys sorted, no spaces, -0 written as 0.
 */

/** Null if the text has no value there. */
export const canonicalAt = (text: string, path: string): string | null => {
  let current: unknown
  try {
    current = JSON.parse(text)
  } catch {
    return null
  }
  for (const key of path.split('.')) {
    if (current === null || typeof current !== 'object' || !Object.hasOwn(current, key)) return null
    current = (current as Readonly<Record<string, unknown>>)[key]
  }
  return canonical(current)
}

/** The whole value of a text; null if the text is not JSON. */
export const canonicalText = (text: string): string | null => {
  try {
    return canonical(JSON.parse(text))
  } catch {
    return null
  }
}

const canonical = (value: unknown): string => {
  if (value === null || typeof value !== 'object') return JSON.stringify(Object.is(value, -0) ? 0 : value)
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`
  const members = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))
  return `{${members.map(([key, member]) => `${JSON.stringify(key)}:${canonical(member)}`).join(',')}}`
}
