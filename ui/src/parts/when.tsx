/**
 * A relative time such as `5 min ago`. The element and its tooltip hold the exact time.
 *
 * All instances share one timer: a scrolled list mounts and unmounts thousands of them.
 */
import { useEffect, useReducer } from 'react'

const UNITS: readonly (readonly [string, number])[] = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['min', 60_000],
  ['s', 1_000],
]
const REFRESH_MS = 10_000

export const span = (ms: number): string => {
  const size = Math.abs(ms)
  if (size < 1_000) return `${Math.round(size)} ms`
  const found = UNITS.findIndex(([, length]) => size >= length)
  const [name, length] = UNITS[found] ?? ['s', 1_000]
  const [next, shorter] = UNITS[found + 1] ?? ['', 0]
  const whole = Math.floor(size / length)
  const rest = shorter === 0 ? 0 : Math.floor((size - whole * length) / shorter)
  return rest === 0 || whole >= 10 ? `${whole} ${name}` : `${whole} ${name} ${rest} ${next}`
}

const told = (at: number, now: number, past: string): string => {
  if (Math.abs(at - now) < 1_000) return 'now'
  return at < now ? `${span(now - at)} ${past}` : `in ${span(at - now)}`
}

const shown = new Set<() => void>()
let timer: ReturnType<typeof setInterval> | undefined

const tellAll = (): void => {
  for (const again of shown) again()
}

const follow = (again: () => void): (() => void) => {
  shown.add(again)
  timer ??= setInterval(tellAll, REFRESH_MS)
  return () => {
    shown.delete(again)
    if (shown.size > 0) return
    clearInterval(timer)
    timer = undefined
  }
}

/** `past` is the word after a time in the past. Default: `ago`. */
export const When = ({ at, past = 'ago' }: { readonly at: string; readonly past?: string }) => {
  const [, again] = useReducer((count: number) => count + 1, 0)
  useEffect(() => follow(again), [])
  return (
    <time dateTime={at} title={at}>
      {told(Date.parse(at), Date.now(), past)}
    </time>
  )
}
