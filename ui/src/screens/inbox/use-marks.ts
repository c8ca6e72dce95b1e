/**
 * Marks of one task: changed at once on the page, saved on the server a moment later, and followed live when another tab or device of the
 * same person changes them.
 *
 * What the server holds is the truth; what was changed here and is not saved yet lies over it. A save names the draft revision that it was
 * made on: where the person was faster elsewhere, the newer draft is shown and nothing of it is lost. What is not saved yet when the person
 * leaves, is then.
 */
import { useCallback, useEffect, useReducer, useRef } from 'react'
import { Problem, sendJson } from '../../api/client.ts'
import type { TaskDetail } from '../../api/documents.ts'
import { complain } from '../../parts/say.ts'
import { isSameMark, type Mark, type Marks, markOf, marksOf } from './marks.ts'

const SAVE_AFTER_MS = 500

export type Saved = 'saved' | 'saving' | 'unsaved'

/** Marks, and the draft revision of which they are. */
export interface SeenMarks {
  readonly marks: Marks
  readonly revision: number
}

export interface MarkBook extends SeenMarks {
  readonly saved: Saved
  set(item: string, mark: Mark): void
  setAll(marks: Marks): void
  /** What the server has marked: it has them already. */
  adopt(task: TaskDetail): void
  /** What is in force, from a refusal that brought it. */
  learn(task: TaskDetail): void
  /** Takes back the last change of marks, of one item or of many. */
  undo(): void
  /** Settles with what is in force when all marks are on the server, or were refused. */
  flush(): Promise<SeenMarks>
}

interface Change {
  readonly mark: Mark
  /** The draft revision that the person saw when they began. */
  readonly base: number
}

class Drafts {
  private known: SeenMarks
  private readonly local = new Map<string, Change>()
  private readonly before: Marks[] = []
  private readonly task: string
  private readonly redraw: () => void
  private saving: Promise<void> = Promise.resolve()
  private hasFailed = false

  constructor(task: TaskDetail, redraw: () => void) {
    this.task = task.id
    this.known = { marks: marksOf(task.drafts), revision: task.draft_revision }
    this.redraw = redraw
  }

  get seen(): SeenMarks {
    const marks = new Map(this.known.marks)
    for (const [item, { mark }] of this.local) marks.set(item, mark)
    return { marks, revision: this.known.revision }
  }

  get pending(): number {
    return this.local.size
  }

  get saved(): Saved {
    if (this.hasFailed) return 'unsaved'
    return this.local.size > 0 ? 'saving' : 'saved'
  }

  /** Answers may come in any order: an older one changes nothing. */
  learn({ drafts, draft_revision: revision }: TaskDetail): void {
    if (revision <= this.known.revision) return
    this.known = { marks: marksOf(drafts), revision }
    this.redraw()
  }

  adopt(task: TaskDetail): void {
    this.before.push(this.seen.marks)
    this.learn(task)
  }

  become(all: Marks): void {
    this.hasFailed = false
    const { marks, revision } = this.seen
    for (const item of new Set([...all.keys(), ...marks.keys()])) {
      const mark = markOf(all, item)
      if (isSameMark(mark, markOf(marks, item))) continue
      this.local.set(item, { mark, base: this.local.get(item)?.base ?? revision })
    }
    this.redraw()
  }

  setAll(all: Marks): void {
    this.before.push(this.seen.marks)
    this.become(all)
  }

  undo(): void {
    const last = this.before.pop()
    if (last !== undefined) this.become(last)
  }

  save(): Promise<void> {
    this.saving = this.saving.then(async () => {
      this.hasFailed = false
      await Promise.all([...this.local].map(([item, change]) => this.send(item, change)))
      this.redraw()
    })
    return this.saving
  }

  private async send(item: string, { mark, base }: Change): Promise<void> {
    try {
      const body = { item, content: mark, draft_revision: base }
      const task = await sendJson<TaskDetail>(`/api/tasks/${this.task}/drafts`, body, { method: 'PATCH' })
      this.settle(item, mark, task.draft_revision)
      this.learn(task)
    } catch (error) {
      if (!(error instanceof Problem) || error.code !== 'DRAFTS_NEWER' || error.task === null) {
        this.hasFailed = true
        return
      }
      this.local.delete(item)
      this.learn(error.task)
      complain(new Error('You changed this in another tab or on another device. The newer draft is shown.'))
    }
  }

  /** What was typed meanwhile is a change of what was just saved. */
  private settle(item: string, sent: Mark, base: number): void {
    const now = this.local.get(item)
    if (now === undefined || now.mark === sent) this.local.delete(item)
    else this.local.set(item, { ...now, base })
    // Until the answer is learnt, what was sent is what the server has.
    this.known = { ...this.known, marks: new Map(this.known.marks).set(item, sent) }
  }
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
  const flush = useCallback(async () => {
    await drafts.save()
    return drafts.seen
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
    ...{ marks, revision, saved: drafts.saved, set, flush },
    setAll: (all) => drafts.setAll(all),
    adopt: (newer) => drafts.adopt(newer),
    learn: (newer) => drafts.learn(newer),
    undo: () => drafts.undo(),
  }
}
