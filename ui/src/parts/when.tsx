/**
 * An instant as people say it; the exact one is in the element and its title.
 *
 * Owns the one timer that all of them share: a list with thousands of rows mounts and unmounts them as it is scrolled.
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

const told = (at: number, now: number): string => {
  if (Math.abs(at - now) < 1_000) return 'now'
  return at < now ? `${span(now - at)} ago` : `in ${span(at - now)}`
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

export const When = ({ at }: { readonly at: string }) => {
  const [, again] = useReducer((count: number) => count + 1, 0)
  useEffect(() => follow(again), [])
  return (
    <time dateTime={at} title={at}>
      {told(Date.parse(at), Date.now())}
    </time>
  )
}
