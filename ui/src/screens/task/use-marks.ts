/**
 * React hook for the marks and form values of one task. Changes show at once; changes from other tabs or devices of the user show live.
 *
 * Decides when drafts are saved (drafts.ts decides how): half a second after a change, when the user leaves the task, and when the
 * server is reachable again.
 */
import { useCallback, useEffect, useReducer, useRef } from 'react'
import type { Filled } from '#model/kernel/form-fields.ts'
import type { TaskDetail } from '../../api/documents.ts'
import { live } from '../../api/live.ts'
import { Drafts, type Saved, type SeenMarks } from '../inbox/drafts.ts'
import { type Mark, type Marks, markOf, withForm } from './marks.ts'

const SAVE_AFTER_MS = 500
const RETRY_AFTER_MS = 3_000
/** Limit of saves in a row: each may find a newer draft and merge with it. */
const MOST_SAVES = 5

export interface MarkBook extends SeenMarks {
  readonly saved: Saved
  /** The saved marks, without unsaved changes. */
  readonly kept: Marks
  /** Ids of items in conflict: changed here and in another tab or device. Null: the form values. */
  readonly contested: readonly (string | null)[]
  set(item: string, mark: Mark): void
  setAll(marks: Marks): void
  /** Sets the form values of an action. Null removes them. */
  write(action: string, filled: Filled | null): void
  /** Applies marks that the server itself has set and saved. */
  adopt(task: TaskDetail): void
  /** Applies the current task from a refused request. */
  learn(task: TaskDetail): void
  /** Undoes the last change of marks, for one item or many. */
  undo(): void
  /** Resolves a conflict with the newer draft or with this tab's own. */
  settle(item: string | null, which: 'newer' | 'own'): SeenMarks
  /** Saves all drafts. Resolves when each is saved or refused. */
  flush(): Promise<SeenMarks & { readonly isContested: boolean }>
}

/** Retries failed saves: when the browser is online again, when the live stream reconnects, and every 3 s. */
const useRetry = (drafts: Drafts): void => {
  useEffect(() => {
    const again = (): void => void (drafts.isWorthRetrying && drafts.save())
    window.addEventListener('online', again)
    const leave = live.watch((state) => state === 'live' && again())
    return () => {
      window.removeEventListener('online', again)
      leave()
    }
  }, [drafts])
  useEffect(() => {
    if (!drafts.isWorthRetrying) return
    const timer = setTimeout(() => void drafts.save(), RETRY_AFTER_MS)
    return () => clearTimeout(timer)
  })
}

export const useMarks = (task: TaskDetail): MarkBook => {
  const [, redraw] = useReducer((count: number) => count + 1, 0)
  const kept = useRef<Drafts>(null)
  kept.current ??= new Drafts(task, redraw)
  const drafts = kept.current
  useEffect(() => drafts.learn(task), [drafts, task])
  useEffect(() => {
    if (drafts.saved !== 'saving') return
    const timer = setTimeout(() => void drafts.save(), SAVE_AFTER_MS)
    return () => clearTimeout(timer)
  })
  useEffect(() => () => void (drafts.pending > 0 && drafts.save()), [drafts])
  useRetry(drafts)
  const flush = useCallback(async () => {
    await drafts.save()
    for (let i = 1; i < MOST_SAVES && drafts.saved === 'saving'; i += 1) await drafts.save()
    return { ...drafts.seen, isContested: drafts.contested.length > 0 }
  }, [drafts])
  const { marks, revision } = drafts.seen
  const set = (item: string, mark: Mark): void => {
    const now = drafts.seen.marks
    const old = markOf(now, item)
    // All keystrokes of one edit are one change for undo.
    const goesOn = old.content !== undefined && mark.content !== undefined && old.verdict === mark.verdict
    const all = new Map(now).set(item, mark)
    if (goesOn) drafts.become(all)
    else drafts.setAll(all)
  }
  return {
    ...{ marks, revision, saved: drafts.saved, kept: drafts.kept, contested: drafts.contested, set, flush },
    setAll: (all) => drafts.setAll(all),
    write: (action, filled) => drafts.become(withForm(drafts.seen.marks, action, filled)),
    adopt: (newer) => drafts.adopt(newer),
    learn: (newer) => drafts.learn(newer),
    undo: () => drafts.undo(),
    settle: (item, which) => {
      if (which === 'newer') drafts.yield(item)
      else drafts.insist(item)
      return drafts.seen
    },
  }
}
