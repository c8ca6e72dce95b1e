/**
 * Marks of one task, and what is typed into its forms: changed at once on the page, saved on the server a moment later, and followed live
 * when another tab or device of the same person changes them.
 *
 * Owns when a draft is saved (drafts.ts says how): a moment after a change, when the person leaves, and as soon as the server is back.
 */
import { useCallback, useEffect, useReducer, useRef } from 'react'
import type { Filled } from '#model/kernel/form-fields.ts'
import type { TaskDetail } from '../../api/documents.ts'
import { live } from '../../api/live.ts'
import { Drafts, type Saved, type SeenMarks } from '../inbox/drafts.ts'
import { type Mark, type Marks, markOf, withForm } from './marks.ts'

const SAVE_AFTER_MS = 500
const RETRY_AFTER_MS = 3_000
/** Each save may meet a newer draft and be put together with it. */
const MOST_SAVES = 5

export interface MarkBook extends SeenMarks {
  readonly saved: Saved
  /** What the server holds, without what is not saved yet. */
  readonly kept: Marks
  /** What the person has changed here and elsewhere. Null: what was typed into forms. */
  readonly contested: readonly (string | null)[]
  set(item: string, mark: Mark): void
  setAll(marks: Marks): void
  /** What is typed into the form of an action; null throws it away. */
  write(action: string, filled: Filled | null): void
  /** What the server has marked: it has them already. */
  adopt(task: TaskDetail): void
  /** What is in force, from a refusal that brought it. */
  learn(task: TaskDetail): void
  /** Takes back the last change of marks, of one item or of many. */
  undo(): void
  /** Of what is contested: the newer draft counts, or this one. */
  settle(item: string | null, which: 'newer' | 'own'): SeenMarks
  /** Settles with what is in force when all marks are on the server, or were refused. */
  flush(): Promise<SeenMarks & { readonly isContested: boolean }>
}

/** What could not be saved is, once the server answers again: as soon as the browser knows of it, and now and then. */
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
    // The letters of one edit are one change.
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
