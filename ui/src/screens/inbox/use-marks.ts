/**
 * Marks of one task: changed at once on the page, saved on the server a moment later, back after a reload.
 *
 * Each change begins where the last one ended, whether it was drawn or not. What is saved later arrives later; what is not saved yet when
 * the person leaves, is then.
 */
import { useCallback, useEffect, useRef, useState } from 'react'
import { sendJson } from '../../api/client.ts'
import type { TaskDetail } from '../../api/documents.ts'
import { type Mark, type Marks, markOf, marksOf, UNMARKED } from './marks.ts'

const SAVE_AFTER_MS = 500

export type Saved = 'saved' | 'saving' | 'unsaved'

export interface MarkBook {
  readonly marks: Marks
  readonly saved: Saved
  set(item: string, mark: Mark): void
  setAll(marks: Marks): void
  /** What the server has marked: it has them already. */
  adopt(drafts: TaskDetail['drafts']): void
  /** Takes back the last change of marks, of one item or of many. */
  undo(): void
  /** Settles when all marks are on the server, or were refused. */
  flush(): Promise<void>
}

export const useMarks = (task: TaskDetail): MarkBook => {
  const [marks, setMarks] = useState<Marks>(() => marksOf(task.drafts))
  const unsaved = useRef(new Map<string, Mark>())
  const [pending, setPending] = useState(0)
  const [failed, setFailed] = useState(false)
  const saving = useRef<Promise<void>>(Promise.resolve())
  const save = useCallback((): Promise<void> => {
    const batch = [...unsaved.current]
    unsaved.current.clear()
    // Marks that were made meanwhile wait for their own turn.
    const settle = (isFailed: boolean): void => {
      setFailed(isFailed)
      setPending(unsaved.current.size)
    }
    const send = ([item, mark]: readonly [string, Mark]) =>
      sendJson(`/api/tasks/${task.id}/drafts`, { item, content: mark }, { method: 'PATCH' })
    saving.current = saving.current
      .then(() => Promise.all(batch.map(send)))
      .then(
        () => settle(false),
        () => settle(true),
      )
    return saving.current
  }, [task.id])
  useEffect(() => {
    if (pending === 0) return
    const timer = setTimeout(() => void save(), SAVE_AFTER_MS)
    return () => clearTimeout(timer)
  }, [pending, save])
  useEffect(() => {
    const left = unsaved.current
    return () => void (left.size > 0 && save())
  }, [save])
  const before = useRef<Marks[]>([])
  const newest = useRef(marks)
  const become = (all: Marks): void => {
    for (const [item, mark] of all) if (newest.current.get(item) !== mark) unsaved.current.set(item, mark)
    for (const item of newest.current.keys()) if (!all.has(item)) unsaved.current.set(item, UNMARKED)
    newest.current = all
    setMarks(all)
    setPending((count) => count + 1)
  }
  const setAll = (all: Marks): void => {
    before.current.push(newest.current)
    become(all)
  }
  const set = (item: string, mark: Mark): void => {
    const old = markOf(newest.current, item)
    // The letters of one edit are one change.
    const goesOn = old.content !== undefined && mark.content !== undefined && old.verdict === mark.verdict
    ;(goesOn ? become : setAll)(new Map(newest.current).set(item, mark))
  }
  const adopt = (drafts: TaskDetail['drafts']): void => {
    before.current.push(newest.current)
    newest.current = marksOf(drafts)
    setMarks(newest.current)
  }
  const undo = (): void => {
    const last = before.current.pop()
    if (last !== undefined) become(last)
  }
  const saved = failed ? 'unsaved' : pending > 0 ? 'saving' : 'saved'
  return { marks, saved, set, setAll, adopt, undo, flush: save }
}
