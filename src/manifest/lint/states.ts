/** State machines: states that cannot be reached, states without an exit, and undeclared states that a handler names. */
import type { AddFinding, Level, Path } from '#manifest/yaml/finding.ts'
import { field, type HandlerEntry, handlersOf, type MachineEntry, type Manifest } from '#manifest/yaml/manifest.ts'
import { isRecord, listed } from '#manifest/yaml/record.ts'
import { nearest } from '#model/kernel/nearest.ts'

const reachable = ({ initial, states }: MachineEntry): ReadonlySet<string> => {
  const next = new Map(states.map(({ name, transitions_to: to = [] }) => [name, to]))
  const reached = new Set([initial])
  for (const at of reached) for (const to of next.get(at) ?? []) reached.add(to)
  return reached
}

const lintMachine = (machine: MachineEntry, position: number, tell: AddFinding): void => {
  const { states, initial, entity, enforce } = machine
  const level: Level = enforce === 'strict' ? 'error' : 'warning'
  const path: Path = ['state_machines', position]
  const names = states.map(({ name }) => name)
  const tellUnknown = (name: string, at: Path): void => {
    const near = nearest(name, names)
    const message = `${entity} has no state ${name}${near === null ? '' : `; did you mean ${near}?`}`
    tell({ level, code: 'LINT_STATE_UNKNOWN', message, path: at })
  }
  if (!names.includes(initial)) tellUnknown(initial, [...path, 'initial'])
  const reached = reachable(machine)
  for (const { name, transitions_to: to = [], terminal } of states) {
    const at = [...path, 'states', name]
    for (const next of to.filter((one) => !names.includes(one))) tellUnknown(next, [...at, 'transitions_to'])
    if (!reached.has(name))
      tell({
        level,
        code: 'LINT_STATE_UNREACHABLE',
        message: `no transitions lead from ${initial} to ${name}`,
        path: at,
      })
    if (to.length === 0 && terminal !== true)
      tell({ level, code: 'LINT_STATE_DEAD_END', message: `no transition leads out of ${name}`, path: at })
  }
}

const statesNamed = (handler: HandlerEntry): readonly (readonly [string, Path])[] => {
  const contract = field(handler, 'contract')
  const places = [
    { holder: handler as object, path: [] as Path },
    { holder: isRecord(contract) ? contract : {}, path: ['contract'] as Path },
  ]
  return places.flatMap(({ holder, path }) =>
    ['state_in', 'state_out'].flatMap((key) =>
      listed(field(holder, key)).map((name) => [String(name), [...path, key]] as const),
    ),
  )
}

/** `same` keeps the state, and a template is resolved only when the run ends. */
const isLiteral = (name: string): boolean => name !== 'same' && !name.includes('{{')

export const lintStates = (manifest: Manifest, tell: AddFinding): void => {
  const machines = manifest.state_machines ?? []
  for (const [i, machine] of machines.entries()) lintMachine(machine, i, tell)
  if (machines.length === 0) return
  const known = machines.flatMap(({ states }) => states.map(({ name }) => name))
  const isStrict = machines.some(({ enforce }) => enforce === 'strict')
  for (const { section, handler } of handlersOf(manifest))
    for (const [name, path] of statesNamed(handler)) {
      if (!isLiteral(name) || known.includes(name)) continue
      const near = nearest(name, known)
      const message = `no state machine has a state ${name}${near === null ? '' : `; did you mean ${near}?`}`
      const at = [section, handler.name, ...path]
      tell({ level: isStrict ? 'error' : 'warning', code: 'LINT_STATE_UNKNOWN', message, path: at })
    }
}
