/**
 * The state of a task, folded from its facts, with only the members that the checks need.
 *
 * Owns the checker's own small fold. A fact of another shape throws: the caller reports it as a finding.
 */
import type { Body } from '#cli/verify/source/fact.ts'

export type TaskEnd = 'decided' | 'expired' | 'withdrawn'

const ENDS: Readonly<Record<string, TaskEnd>> = {
  'task.decided': 'decided',
  'task.expired': 'expired',
  'task.withdrawn': 'withdrawn',
}

const asked = (body: Body): readonly string[] => [
  ...body.texts('users').map((user) => `user:${user}`),
  ...body.texts('groups').map((group) => `group:${group}`),
]

export class TaskState {
  run = ''
  step = ''
  status = 'pending'
  end: TaskEnd | null = null
  hash = ''
  level = 0
  deadlineAt: number | null = null
  timedOut = false
  claimedBy: string | null = null
  autoAction: string | null = null
  excluded: readonly string[] = []
  items: ReadonlySet<string> = new Set()
  addresses: readonly string[] = []
  readonly reminded = new Set<string>()
  readonly timedOutLevels = new Set<number>()
  #awaitedAt: number | null = null

  /** `at`: when the fact was recorded. */
  apply(type: string, body: Body, at: number): void {
    const end = ENDS[type]
    if (end !== undefined) this.end ??= end
    switch (type) {
      case 'task.opened':
        return this.#open(body)
      case 'task.viewed':
        if (this.status === 'pending') this.status = 'in_review'
        return
      case 'task.claimed':
        this.claimedBy = body.text('by')
        return
      case 'task.unclaimed':
        this.claimedBy = null
        return
      case 'task.reassigned':
        this.status = 'pending'
        this.claimedBy = null
        this.addresses = asked(body.body('to'))
        return
      case 'task.escalated':
        return this.#climb(body)
      case 'task.timed_out':
        this.timedOut = true
        this.timedOutLevels.add(body.number('level'))
        return
      case 'task.reminded':
        this.reminded.add(`${body.number('level')}/${body.number('n')}`)
        return
      case 'task.edited':
        this.hash = body.text('hash')
        return
      case 'task.revised':
        return this.#revise(body, at)
      case 'task.acted':
      case 'task.decided':
        this.status = body.text('status')
        return
      case 'task.revision_requested':
        this.status = 'revision_requested'
        this.#awaitedAt = at
        return
      case 'task.expired':
      case 'task.withdrawn':
        this.status = type.slice('task.'.length)
    }
  }

  #open(body: Body): void {
    const spec = body.body('spec')
    const [level] = spec.list('levels')
    this.run = body.text('run')
    this.step = body.text('step')
    this.hash = body.text('hash')
    this.deadlineAt = body.orNull('deadlineAt', (name) => body.number(name))
    this.autoAction = spec.orNull('autoAction', (name) => spec.text(name))
    this.excluded = spec.texts('excluded')
    this.items = new Set(body.list('items').map((item) => item.text('id')))
    this.addresses = level === undefined ? [] : asked(level.body('to'))
  }

  #climb(body: Body): void {
    this.status = 'pending'
    this.claimedBy = null
    this.level = body.number('level')
    this.timedOut = false
    this.deadlineAt = body.orNull('deadlineAt', (name) => body.number(name))
    this.addresses = asked(body.body('to'))
  }

  /** The time that a revision took is added to the deadline. */
  #revise(body: Body, at: number): void {
    if (this.deadlineAt !== null && this.#awaitedAt !== null) this.deadlineAt += Math.max(0, at - this.#awaitedAt)
    this.#awaitedAt = null
    this.status = 'pending'
    this.hash = body.text('hash')
    this.items = new Set(body.list('items').map((item) => item.text('id')))
  }
}
