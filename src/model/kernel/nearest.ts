/** Suggests the known name nearest to a misspelled one. Owns the measure: edits, at most two or a third of what was written. */

const editDistance = (a: string, b: string): number => {
  let row = Array.from({ length: b.length + 1 }, (_, i) => i)
  for (let i = 1; i <= a.length; i++) {
    const next = [i]
    for (let j = 1; j <= b.length; j++) {
      const change = (row[j - 1] as number) + (a[i - 1] === b[j - 1] ? 0 : 1)
      next.push(Math.min((row[j] as number) + 1, (next[j - 1] as number) + 1, change))
    }
    row = next
  }
  return row[b.length] as number
}

/** A longer text is not a misspelled name, and the cost grows with the square of the length. */
const MAX_LENGTH = 200

export const nearest = (written: string, known: readonly string[]): string | null => {
  if (written.length > MAX_LENGTH) return null
  const most = Math.max(2, written.length / 3)
  let best: { readonly name: string; readonly distance: number } | null = null
  for (const name of known) {
    if (Math.abs(name.length - written.length) > most) continue
    const distance = editDistance(written, name)
    if (distance <= most && (best === null || distance < best.distance)) best = { name, distance }
  }
  return best?.name ?? null
}
