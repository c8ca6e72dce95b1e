/** The look of each step state: a word, a pattern and a colour, never a colour alone. Defines the SVG patterns of the page. */
import { Bot, Cog, type LucideIcon, User } from 'lucide-react'
import { type Bar, type Modality, type State, stateOf } from './bars.ts'

const WORDS: Readonly<Record<State, string>> = {
  queued: 'queued',
  work: 'running',
  human: 'waiting for a person',
  event: 'waiting for an event',
  child: 'waiting for a run',
  sleep: 'sleeping',
  retry: 'waiting to retry',
  doubt: 'unconfirmed',
  paused: 'paused',
  life: 'in progress',
}

/** The same after the end of the state. */
const OVER: Readonly<Record<State, string>> = {
  queued: 'was queued',
  work: 'ran',
  human: 'waited for a person',
  event: 'waited for an event',
  child: 'waited for a run',
  sleep: 'slept',
  retry: 'waited to retry',
  doubt: 'was unconfirmed',
  paused: 'was paused',
  life: 'ended',
}

/** The current or last state, in words. */
export const doingOf = (bar: Bar): string => {
  if (bar.outcome === 'skipped') return 'skipped'
  return (bar.outcome === 'open' ? WORDS : OVER)[stateOf(bar)]
}

export const OUTCOMES = {
  open: 'in progress',
  done: 'done',
  failed: 'failed',
  skipped: 'skipped',
  left: 'not finished',
} as const

export const MODALITIES: Readonly<Record<Modality, { readonly icon: LucideIcon; readonly word: string }>> = {
  agent: { icon: Bot, word: 'agent' },
  human: { icon: User, word: 'human' },
  workflow: { icon: Cog, word: 'function' },
}

/** SVG path of each pattern, 8 by 8. States without one are filled or empty. */
const TILES: Readonly<Partial<Record<State, string>>> = {
  queued: 'M1 1h2v2h-2zM5 5h2v2h-2z',
  human: 'M0 0h4v8h-4z',
  event: 'M0 8L8 0h-3L0 5zM8 8v-3L5 8z',
  sleep: 'M0 1h8v2h-8zM0 5h8v2h-8z',
  retry: 'M0 0L8 8h-3L0 3zM8 0v3L5 0z',
  doubt: 'M0 0h4v4h-4zM4 4h4v4h-4z',
  paused: 'M1 0h2v8h-2zM4 0h2v8h-2z',
}

export const fillOf = (state: State): string | undefined => (state in TILES ? `url(#tile-${state})` : undefined)

export const Tiles = () => (
  <svg width={0} height={0} className="tiles" aria-hidden="true">
    <defs>
      {Object.entries(TILES).map(([state, path]) => (
        <pattern key={state} id={`tile-${state}`} width={8} height={8} patternUnits="userSpaceOnUse">
          <path d={path} data-state={state} className="tile" />
        </pattern>
      ))}
    </defs>
  </svg>
)

/** A legend of the visible states. */
export const Legend = ({ states }: { readonly states: ReadonlySet<State> }) => (
  <ul className="legend" aria-label="Legend">
    {(Object.keys(WORDS) as readonly State[])
      .filter((state) => states.has(state) && state !== 'life')
      .map((state) => (
        <li key={state}>
          <svg width={22} height={12} aria-hidden="true">
            <rect x={1} y={1} width={20} height={10} className="piece" data-state={state} fill={fillOf(state)} />
          </svg>
          {WORDS[state]}
        </li>
      ))}
  </ul>
)
