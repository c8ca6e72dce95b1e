/**
 * Drafts of one task in this tab: what the server holds, and what was changed here and is not saved yet over it.
 *
 * Owns the way to the server and back. A save names the draft revision that it was made on. Where the person was faster elsewhere, changes of
 * different parts are put together; where both changed the same part, the person chooses, and until then neither is lost.
 */
import { Problem, sendJson } from '../../api/client.ts'
import type { TaskDetail } from '../../api/documents.ts'
import { draftOf, isSameMark, type Mark, type Marks, markOf, marksOf, mergedMark } from '../task/marks.ts'

export type Saved = 'saved' | 'saving' | 'unsaved' | 'contested'

/** Marks, and the draft revision of which they are. */
export interface SeenMarks {
  readonly marks: Marks
  readonly revision: number
}

type Key = string | null

/** What a server that cannot be reached may take later; what it has refused it refuses again. */
type Failure = 'unreached' | 'refused'

const failureOf = (error: unknown): Failure => {
  const status = error instanceof Problem ? error.status : 0
  return status === 0 || status === 429 || status >= 500 ? 'unreached' : 'refused'
}

interface Change {
  readonly mark: Mark
  /** The draft revision that the person saw when they began. */
  readonly base: number
  /** What they saw then. */
  readonly before: Mark
  /** The person has changed the same elsewhere. */
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

  /** What the server holds, without the changes of this tab. */
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

  /** The newer draft counts. */
  yield(item: Key): void {
    this.local.delete(item)
    this.redraw()
  }

  /** What was changed here counts, over all that is known now. */
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

  /** What was typed meanwhile is a change of what was just saved. */
  private settle(item: Key, sent: Mark, base: number): void {
    const now = this.local.get(item)
    if (now === undefined || now.mark === sent) this.local.delete(item)
    else this.local.set(item, { ...now, base, before: sent })
    // Until the answer is learnt, what was sent is what the server has.
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
