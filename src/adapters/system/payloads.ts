/**
 * Defines which parts of the ledger are payloads, and how each kind is encrypted and decrypted.
 *
 * Owns the places. Encrypted: bodies of facts, data of events, why a trigger did not fire, titles and summaries of tasks, documents, blobs.
 * In clear: ids, types, names of handlers and steps, times, status, slots, and the assignees of a task.
 *
 * payloads-1  A wait by value finds its event though neither is readable: beside the ciphertext is a tree of tokens, one for each name
 *             and value. Equal values at the same path of events of one type have the same token; it reveals nothing else.
 */
import { isModelCall } from '#adapters/storage/migrations/0011-model-calls.ts'
import type { StoredEvent } from '#model/event/event.ts'
import type { Json } from '#model/kernel/json.ts'
import { canonical } from '#model/kernel/json.ts'
import type { DocumentWrite, NewEvent, SealedFact, Suppression, TaskRow, WaitRow } from '#ports/ledger.ts'
import type { Cipher } from './cipher.ts'

/** The member with the ciphertext. No token is as short. */
export const CONTENT = 'enc1'
/** Identifies a list in a tree of tokens. */
const LIST = '#'
/** Most names of members whose tokens are cached. */
const MOST_NAMES = 10_000

type Identity = Pick<StoredEvent, 'tenant' | 'source' | 'id' | 'type'>

export class Payloads {
  readonly #cipher: Cipher
  readonly #names = new Map<string, string>()

  constructor(cipher: Cipher) {
    this.#cipher = cipher
  }

  hideFact(tenant: string, stream: string, seq: number, fact: SealedFact): SealedFact {
    const { type, recordedAt, body, hash } = fact
    // Queries for paid model calls find their facts by this text.
    const marks = isModelCall(fact) ? '"modelUsed":"' : ''
    return { type, recordedAt, body: this.#cipher.hide(tenant, factPlace(stream, seq), body, marks), hash }
  }

  showFact(tenant: string, stream: string, seq: number, fact: SealedFact): SealedFact {
    const { type, recordedAt, body, hash } = fact
    return { type, recordedAt, body: this.#cipher.show(tenant, factPlace(stream, seq), body), hash }
  }

  hideEvent({ event, dataHash, suppressed }: NewEvent): NewEvent {
    const { tenant, type } = event
    const hidden = this.#cipher.hide(tenant, eventPlace(event), JSON.stringify(event.data))
    const tree = this.#tree(tenant, type, '', event.data)
    const data = typeof tree === 'object' ? { [CONTENT]: hidden, ...(tree as object) } : { [CONTENT]: hidden }
    return {
      event: { ...event, data },
      dataHash,
      suppressed: suppressed.map((one) => this.hideSuppression(tenant, one)),
    }
  }

  showEvent<Event extends Identity & { readonly data: Json }>(event: Event): Event {
    return { ...event, data: this.#shown(event.tenant, eventPlace(event), event.data) }
  }

  hideSuppression(tenant: string, one: Suppression): Suppression {
    return { ...one, detail: this.#cipher.hide(tenant, suppressionPlace(one.trigger), one.detail) }
  }

  showSuppression(tenant: string, one: Suppression): Suppression {
    return { ...one, detail: this.#cipher.show(tenant, suppressionPlace(one.trigger), one.detail) }
  }

  hideWait<Wait extends Pick<WaitRow, 'type' | 'path' | 'value'>>(tenant: string, wait: Wait): Wait {
    const { type, path, value } = wait
    if (path === '') return wait
    const tree = this.#tree(tenant, type, path, JSON.parse(value) as Json)
    return { ...wait, path: this.#path(tenant, type, path), value: canonical(tree) }
  }

  hideTask(task: string, row: TaskRow): TaskRow {
    const { tenant, title, summary } = row
    const content = this.#cipher.hide(tenant, taskPlace(task, 'summary'), JSON.stringify(summary))
    // The view of escalated tasks queries this member.
    const isEscalated = ((summary as { readonly escalationReason?: Json } | null)?.escalationReason ?? null) !== null
    return {
      ...row,
      title: this.#cipher.hide(tenant, taskPlace(task, 'title'), title),
      summary: { [CONTENT]: content, ...(isEscalated ? { escalationReason: 'yes' } : {}) },
    }
  }

  showTask<Row extends TaskRow>(task: string, row: Row): Row {
    const { tenant, title, summary } = row
    return {
      ...row,
      title: this.#cipher.show(tenant, taskPlace(task, 'title'), title),
      summary: this.#shown(tenant, taskPlace(task, 'summary'), summary),
    }
  }

  /** Null deletes the document, and stays null. */
  hideDocument(write: DocumentWrite): DocumentWrite {
    const { tenant, table, key, value } = write
    if (value === null) return write
    return { ...write, value: this.#cipher.hide(tenant, documentPlace(table, key), JSON.stringify(value)) }
  }

  showDocument(tenant: string, table: string, key: string, value: Json): Json {
    return JSON.parse(this.#cipher.show(tenant, documentPlace(table, key), String(value))) as Json
  }

  /** Blobs are shared by all tenants: equal content is stored once. */
  blobName(hash: string): string {
    return `enc1_${this.#cipher.token('blob', hash)}`
  }

  hideBlob(name: string, text: string): string {
    return this.#cipher.hide('', `blob\n${name}`, text)
  }

  showBlob(name: string, hidden: string): string {
    return this.#cipher.show('', `blob\n${name}`, hidden)
  }

  #shown(tenant: string, place: string, stored: Json): Json {
    const content = (stored as { readonly [CONTENT]?: Json } | null)?.[CONTENT]
    return JSON.parse(this.#cipher.show(tenant, place, String(content))) as Json
  }

  /** The value with a token for each name and each scalar. Lists become objects: a path does not distinguish an index from a name. */
  #tree(tenant: string, type: string, path: string, value: Json): Json {
    if (value === null || typeof value !== 'object')
      return this.#cipher.token(tenant, `value\n${type}\n${path}\n${canonical(value)}`)
    const tree: Record<string, Json> = Array.isArray(value) ? { [LIST]: 1 } : {}
    for (const [key, member] of Object.entries(value)) {
      const below = path === '' ? key : `${path}.${key}`
      tree[this.#name(tenant, type, key)] = this.#tree(tenant, type, below, member as Json)
    }
    return tree
  }

  #path(tenant: string, type: string, path: string): string {
    return path
      .split('.')
      .map((key) => this.#name(tenant, type, key))
      .join('.')
  }

  #name(tenant: string, type: string, key: string): string {
    const text = `${tenant}\n${type}\n${key}`
    const known = this.#names.get(text)
    if (known !== undefined) return known
    const name = this.#cipher.token(tenant, `name\n${type}\n${key}`)
    if (this.#names.size >= MOST_NAMES) this.#names.clear()
    this.#names.set(text, name)
    return name
  }
}

export const factPlace = (stream: string, seq: number): string => `fact\n${stream}\n${seq}`
export const eventPlace = ({ source, id, type }: Pick<Identity, 'source' | 'type'> & { readonly id: string }): string =>
  `event\n${source}\n${id}\n${type}`
export const suppressionPlace = (trigger: string): string => `suppressed\n${trigger}`
export const taskPlace = (task: string, column: 'title' | 'summary'): string => `task\n${task}\n${column}`
export const documentPlace = (table: string, key: string): string => `document\n${table}\n${key}`
