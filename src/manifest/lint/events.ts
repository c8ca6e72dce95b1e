/** Events without a listener, without a sender or without a declaration; and emits that contradict each other. */
import type { AddFinding } from '#manifest/yaml/finding.ts'
import { handlersOf, type Manifest } from '#manifest/yaml/manifest.ts'
import { nearest } from '#model/kernel/nearest.ts'
import { comesFromOutside, type Traffic } from './traffic.ts'

const stem = (type: string): string => type.split(/[./]/)[0] ?? type

const lintUndeclared = (manifest: Manifest, { heardAt, sentAt }: Traffic, tell: AddFinding): void => {
  const declared = manifest.events.definitions.map(({ name }) => name)
  for (const [type, path] of new Map([...sentAt, ...heardAt])) {
    if (declared.includes(type) || comesFromOutside(manifest, type)) continue
    const near = nearest(type, declared)
    const message = `${type} is not declared: it may carry any data${near === null ? '' : `; did you mean ${near}?`}`
    tell({ level: 'warning', code: 'LINT_EVENT_UNDECLARED', message, path })
  }
}

const lintUnheard = (manifest: Manifest, traffic: Traffic, tell: AddFinding): readonly string[] => {
  const unheard = [...traffic.sentAt].filter(([type]) => !traffic.heard.has(type))
  for (const [type, path] of unheard) {
    const isEnd = manifest.events.definitions.some(({ name, terminal }) => name === type && terminal === true)
    const message = `${type} is sent, but nothing listens to it`
    const remark = { code: 'LINT_EVENT_UNHEARD', message, path } as const
    tell(
      isEnd
        ? { ...remark, level: 'info', hint: 'It is declared as terminal: there is nothing to do.' }
        : { ...remark, level: 'warning' },
    )
  }
  return unheard.map(([type]) => type)
}

const lintUnproduced = (manifest: Manifest, traffic: Traffic, unheard: readonly string[], tell: AddFinding): void => {
  for (const [type, path] of traffic.heardAt) {
    if (traffic.sent.has(type) || comesFromOutside(manifest, type)) continue
    const pairs = unheard.filter((other) => stem(other) === stem(type))
    const words = pairs.length === 0 ? '' : `; sent without a listener: ${pairs.join(', ')}`
    const message = `${type} has a listener, but nothing sends it${words}`
    tell({ level: 'warning', code: 'LINT_EVENT_UNPRODUCED', message, path })
  }
}

/** An agent sends every entry that has no condition. */
const lintAmbiguous = (manifest: Manifest, tell: AddFinding): void => {
  for (const { section, handler } of handlersOf(manifest)) {
    if (section !== 'agents') continue
    const always = (handler.emits ?? []).filter(({ when, on }) => when === undefined && on === 'success')
    const [first, second] = always
    if (first === undefined || second === undefined) continue
    const message = `${handler.name} always sends both ${first.event} and ${second.event}`
    const path = [section, handler.name, 'emits', second.event]
    tell({ level: 'warning', code: 'LINT_EMIT_AMBIGUOUS', message, path })
  }
}

export const lintEvents = (manifest: Manifest, traffic: Traffic, tell: AddFinding): void => {
  lintUndeclared(manifest, traffic, tell)
  lintUnproduced(manifest, traffic, lintUnheard(manifest, traffic, tell), tell)
  lintAmbiguous(manifest, tell)
}
