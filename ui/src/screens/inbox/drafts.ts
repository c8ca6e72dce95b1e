/**
 * The drafts of one task in this tab: the saved drafts plus local changes that are not saved yet.
 *
 * Saves to the server and merges what comes back. Each save names the draft revision that it is based on. If the user has changed the
 * drafts in another tab or device, changes to different parts are merged. If both changed the same part, the user chooses; until then
 * both versions are kept.
 */
import { Problem, sendJson } from '../../api/client.ts'
import type { TaskDetail } from '../../api/documents.ts'
import { draftOf, isSameMark, type Mark, type Marks, markOf, marksOf, mergedMark } from '../task/marks.ts'

export type Saved = 'saved' | 'saving' | 'unsaved' | 'contested'

/** Marks and their draft revision. */
export interface SeenMarks {
  readonly marks: Marks
  readonly revision: number
}

type Key = string | null

/** A save that did not reach the server is retried. A refused one is not. */
type Failure = 'unreached' | 'refused'

const failureOf = (error: unknown): Failure => {
  const status = error instanceof Problem ? error.status : 0
  return status === 0 || status === 429 || status >= 500 ? 'unreached' : 'refused'
}

interface Change {
  readonly mark: Mark
  /** The draft revision that the user saw when they started this change. */
  readonly base: number
  /** The mark in that revision. */
  readonly before: Mark
  /** The user has changed the same mark in another tab or device. */
  readonly isContested: boolean
}

export class Drafts {
  private known: SeenMarks
  private readonly local = new Map<Key, Change>()
  private readonly before: Marks[] = []
  private readonly task: string
  private readonly redraw: () => void
  private saving: Promise<void> = Promise.resolve()
  private failure: Failure | null = null

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

  /** The saved marks, without the changes of this tab. */
  get kept(): Marks {
    return this.known.marks
  }

  get pending(): number {
    return this.local.size
  }

  get contested(): readonly Key[] {
    return [...this.local].flatMap(([item, { isContested }]) => (isContested ? [item] : []))
  }

  get saved(): Saved {
    if (this.failure !== null) return 'unsaved'
    if (this.contested.length > 0) return 'contested'
    return this.local.size > 0 ? 'saving' : 'saved'
  }

  get isWorthRetrying(): boolean {
    return this.failure === 'unreached'
  }

  /** Responses may arrive in any order; an older one is ignored. */
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
    this.failure = null
    const { marks, revision } = this.seen
    for (const item of new Set([...all.keys(), ...marks.keys()])) {
      const [mark, before] = [markOf(all, item), markOf(marks, item)]
      if (isSameMark(mark, before)) continue
      this.local.set(item, { base: revision, before, isContested: false, ...this.local.get(item), mark })
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

  /** Resolves a conflict: keep the saved draft. */
  yield(item: Key): void {
    this.local.delete(item)
    this.redraw()
  }

  /** Resolves a conflict: keep the change of this tab. */
  insist(item: Key): void {
    const own = this.local.get(item)
    if (own !== undefined) this.local.set(item, { ...own, base: this.known.revision, isContested: false })
    this.redraw()
  }

  save(): Promise<void> {
    this.saving = this.saving.then(async () => {
      this.failure = null
      const due = [...this.local].filter(([, { isContested }]) => !isContested)
      await Promise.all(due.map(([item, change]) => this.send(item, change)))
      this.redraw()
    })
    return this.saving
  }

  private async send(item: Key, change: Change): Promise<void> {
    const { mark, base } = change
    try {
      const body = { item, content: draftOf(item, mark), draft_revision: base }
      const task = await sendJson<TaskDetail>(`/api/tasks/${this.task}/drafts`, body, { method: 'PATCH' })
      this.settle(item, mark, task.draft_revision)
      this.learn(task)
    } catch (error) {
      if (error instanceof Problem && error.code === 'DRAFTS_NEWER' && error.task !== null)
        this.meet(item, change, error.task)
      else this.failure = failureOf(error)
    }
  }

  /** Removes a saved change. Text typed during the save becomes a new change, based on the saved one. */
  private settle(item: Key, sent: Mark, base: number): void {
    const now = this.local.get(item)
    if (now === undefined || now.mark === sent) this.local.delete(item)
    else this.local.set(item, { ...now, base, before: sent })
    // Until the response is applied, assume that the server has what was sent.
    this.known = { ...this.known, marks: new Map(this.known.marks).set(item, sent) }
  }

  private meet(item: Key, { before, mark }: Change, task: TaskDetail): void {
    this.learn(task)
    const mine = this.local.get(item)?.mark ?? mark
    const theirs = markOf(this.known.marks, item)
    const both = mergedMark(before, mine, theirs)
    const base = this.known.revision
    if (both === null) this.local.set(item, { mark: mine, base, before: theirs, isContested: true })
    else if (isSameMark(both, theirs)) this.local.delete(item)
    else this.local.set(item, { mark: both, base, before: theirs, isContested: false })
  }
}
