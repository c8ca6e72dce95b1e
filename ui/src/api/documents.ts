/** What the server answers with, as its own descriptions print it (`npm run api`), and what the page asks of any JSON. */
import type { Json } from '../../../src/http/api.ts'

export type {
  BackfillCount,
  Chat,
  ChatDefinition,
  ChatList,
  Checkpoint,
  ConfiguredSetting,
  CostRow,
  Costs,
  DeadLetter,
  DelayedEvent,
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
  NewToken,
  Receipt,
  Rehearsal,
  Run,
  RunCosts,
  RunCounts,
  RunDetail,
  Schedule,
  ScheduleSlot,
  Session,
  SessionDetail,
  SessionDifference,
  SessionMemory,
  Spent,
  StoredEvent,
  TaskAction,
  TaskDetail,
  TaskDraft,
  TaskItem,
  TaskSummary,
  Token,
  WaitingOn,
  WebhookDelivery,
  WebhookEndpoint,
  Worker,
} from '../../../src/http/api.ts'

export const isRecord = (value: Json | undefined): value is { readonly [key: string]: Json } =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

export interface Page<Item> {
  readonly items: readonly Item[]
  readonly next_cursor: string | null
}
