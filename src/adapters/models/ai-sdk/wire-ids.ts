/**
 * Rewrites ids of tool calls so that every provider accepts them: letters, digits, `_` and `-`, and unique in one conversation.
 *
 * Owns that rewriting alone. Providers repeat their ids across turns, and our own keys have dots.
 */
export interface WireIds {
  ofCall(id: string): string
  /** The wire id of the last call with this id. */
  ofResult(id: string): string
}

const MAX_LENGTH = 64

export const wireIds = (): WireIds => {
  const latest = new Map<string, string>()
  const used = new Set<string>()
  const spell = (id: string): string => id.replaceAll(/[^A-Za-z0-9_-]/g, '_').slice(0, MAX_LENGTH) || 'call'
  return {
    ofCall: (id) => {
      const base = spell(id)
      let wire = base
      for (let i = 2; used.has(wire); i++) wire = `${base.slice(0, MAX_LENGTH - 8)}_${i}`
      used.add(wire)
      latest.set(id, wire)
      return wire
    },
    ofResult: (id) => latest.get(id) ?? spell(id),
  }
}
