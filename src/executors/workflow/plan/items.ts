/** The items of a plan's `each`: under which loop key each of them is done. */
import { isJsonRecord, type Json } from '#model/kernel/json.ts'
import { isLoopKey } from '#model/run/step.ts'

/** The loop key of each item: its `id`, else its place in the list. A second item of the same key gets a number, so that both are done. */
export const itemKeys = (items: readonly Json[]): readonly string[] => {
  const wanted = items.map((item, i) => {
    const id = isJsonRecord(item) ? item['id'] : undefined
    const key = typeof id === 'string' || typeof id === 'number' ? String(id) : ''
    return isLoopKey(key) && !key.startsWith('#') ? key : String(i)
  })
  const taken = new Set<string>()
  const ofItself = new Set(wanted)
  return wanted.map((key) => {
    let free = key
    for (let n = 2; taken.has(free) || (free !== key && ofItself.has(free)); n++) free = `${key} (${n})`
    taken.add(free)
    return free
  })
}
