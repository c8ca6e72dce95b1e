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
  Job,
  Json,
  Me as WhoAmI,
  Receipt,
  Run,
  RunCounts,
  RunDetail,
  SavedFilter,
  Schedule,
  Session,
  SessionDetail,
  SessionMemory,
  Spent,
  StoredEvent,
  System,
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
