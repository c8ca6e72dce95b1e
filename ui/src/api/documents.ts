/** What the server answers with, as its own descriptions print it (`npm run api`), and what the page asks of any JSON. */
import type { Json } from '../../../src/http/api.ts'

export type {
  Chat,
  ChatDefinition,
  ChatList,
  Checkpoint,
  CostRow,
  Costs,
  EventCause,
  EventDetail,
  Fact,
  Finding as ManifestFinding,
  Graph as ManifestGraph,
  GraphEdge,
  GraphNode,
  Health,
  Json,
  Me as WhoAmI,
  Plan,
  PlanRun,
  PlanStep,
  Receipt,
  Run,
  RunCounts,
  RunDetail,
  Schedule,
  Session,
  SessionDetail,
  SessionMemory,
  Spent,
  StoredEvent,
  TaskAction,
  TaskDetail,
  TaskDraft,
  TaskItem,
  TaskSummary,
  WaitingOn,
  Worker,
} from '../../../src/http/api.ts'

export const isRecord = (value: Json | undefined): value is { readonly [key: string]: Json } =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

export interface Page<Item> {
  readonly items: readonly Item[]
  readonly next_cursor: string | null
}
