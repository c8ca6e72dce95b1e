/**
 * The graph of a running system, however it was written: the same as the manifest's graph (graph.ts), but from definitions.
 *
 * Owns which part of a definition becomes which edge. Events that code sends without declaring them are not in it.
 */
import type { AgentSpec } from '#model/agent/agent.ts'
import type { Timing } from '#model/schedule/spec.ts'
import type { Human } from '#model/task/human.ts'
import { isOwn } from './builtin-functions.ts'
import { Drawing, type Graph, type NodeKind } from './graph.ts'
import type { FunctionDefinition, System } from './system.ts'

/** The source of the events about the end of a handler's runs. */
const ENDED = /^run:(.+)$/

const kindOf = ({ modality }: FunctionDefinition): NodeKind => (modality === 'workflow' ? 'function' : modality)

const nodeFor = (drawing: Drawing, { functions }: System, name: string): string => {
  const definition = functions.get(name)
  return drawing.node(definition === undefined ? 'function' : kindOf(definition), name)
}

const drawHeard = (drawing: Drawing, system: System): void => {
  for (const [type, listeners] of system.listeners)
    for (const { handler, filters } of listeners)
      for (const { text, from } of filters) {
        const ended = ENDED.exec(from ?? '')?.[1]
        const to = nodeFor(drawing, system, handler.name)
        if (ended === undefined) drawing.edge(drawing.node('event', type), to, 'hears', text)
        else drawing.edge(nodeFor(drawing, system, ended), to, 'starts', 'after')
      }
}

interface Sent {
  readonly event: string
  readonly label: string
}

const label = (...parts: readonly (string | null)[]): string => parts.filter(Boolean).join(', ')

const sentByFunction = ({ workflow }: FunctionDefinition): readonly Sent[] => {
  const routes = workflow.routing === null ? [] : [...workflow.routing.routes]
  const otherwise = workflow.routing?.otherwise ?? null
  const all = otherwise === null ? routes : [...routes, ['otherwise', otherwise] as const]
  return [
    ...(workflow.emits ?? []).map(({ event, on, when }) => ({
      event,
      label: label(on === 'success' ? null : `on ${on}`, when?.text ?? null),
    })),
    ...all.flatMap(([value, { emit }]) => (emit === null ? [] : { event: emit, label: value })),
  ]
}

const sentBy = (definition: FunctionDefinition): readonly Sent[] => {
  switch (definition.modality) {
    case 'agent':
      return (definition.code as AgentSpec).emits.map(({ event, on, when }) => ({
        event,
        label: label(on === 'success' ? null : `on ${on}`, when),
      }))
    case 'human':
      return (definition.code as Human).definition.actions.flatMap(({ emits, name }) =>
        emits === null ? [] : { event: emits, label: name },
      )
    case 'workflow':
      return sentByFunction(definition)
  }
}

/** Handlers that a handler starts by name. */
const startedBy = (definition: FunctionDefinition): readonly string[] => {
  if (definition.modality === 'agent') {
    const { subagents, handoffs } = definition.code as AgentSpec
    return [...subagents.map(({ handler }) => handler), ...handoffs]
  }
  const { routing } = definition.workflow
  return routing === null ? [] : [...routing.routes.values()].flatMap(({ calls }) => calls)
}

const timingLabel = (timing: Timing): string => (timing.kind === 'cron' ? timing.expression : timing.kind)

const drawStarts = (drawing: Drawing, system: System): void => {
  for (const { name, spec, target } of system.schedules.values()) {
    const to = target.kind === 'emit' ? drawing.node('event', target.name) : nodeFor(drawing, system, target.name)
    drawing.edge(drawing.node('schedule', name), to, 'starts', timingLabel(spec.timing))
  }
  for (const { name, emits } of system.webhooks.values())
    drawing.edge(drawing.node('webhook', name), drawing.node('event', emits), 'sends')
}

export const graphOfSystem = (system: System): Graph => {
  const drawing = new Drawing((name) => {
    const module = system.functions.get(name)?.module ?? null
    if (module === null) return null
    return module.isolation === undefined ? 'none' : 'process'
  })
  const own = [...system.functions.values()].filter(({ name }) => !isOwn(name))
  for (const { name } of own) nodeFor(drawing, system, name)
  drawHeard(drawing, system)
  for (const definition of own) {
    const from = nodeFor(drawing, system, definition.name)
    for (const sent of sentBy(definition)) drawing.edge(from, drawing.node('event', sent.event), 'sends', sent.label)
    for (const name of startedBy(definition)) drawing.edge(from, nodeFor(drawing, system, name), 'starts')
  }
  drawStarts(drawing, system)
  for (const type of system.events.keys()) drawing.node('event', type)
  return { name: system.name, nodes: [...drawing.nodes.values()], edges: drawing.edges }
}
