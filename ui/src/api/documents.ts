/** Types of the server's responses, generated from its OpenAPI description (`npm run api`), and helpers for JSON. */
import type { Json, Timeline } from '#http/openapi/api.ts'

export type {
  BackfillCount,
  Chat,
  ChatDefinition,
  ChatList,
  Checkpoint,
  Circuit,
  ConfiguredSetting,
  CostRow,
  Costs,
  DeadLetter,
  DelayedEvent,
  EventCause,
  EventDetail,
  Finding as ManifestFinding,
  Graph as ManifestGraph,
  GraphEdge,
  GraphNode,
  Health,
  InboxViews,
  Job,
  Json,
  Mark,
  Me as WhoAmI,
  NewToken,
  Plan,
  PlanRun,
  PlanStep,
  Pool,
  Receipt,
  Rehearsal,
  RerunPreview,
  Run,
  RunCosts,
  RunCounts,
  RunDetail,
  SavedFilter,
  Schedule,
  ScheduleSlot,
  Session,
  SessionDetail,
  SessionDifference,
  SessionMemory,
  Spent,
  StepDetail,
  Stop,
  StoredEvent,
  System,
  TaskAction,
  TaskCounts,
  TaskDetail,
  TaskDraft,
  TaskHappening,
  TaskItem,
  TaskMarks,
  TaskSummary,
  TaskVerdict,
  Timeline,
  Token,
  WaitingOn,
  WebhookDelivery,
  WebhookEndpoint,
  Worker,
} from '#http/openapi/api.ts'

export const isRecord = (value: Json | undefined): value is { readonly [key: string]: Json } =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** The timeline of a run, all pages together. */
export interface RunMarks extends Pick<Timeline, 'id' | 'handler' | 'status'> {
  readonly marks: Timeline['items']
}

export interface Page<Item> {
  readonly items: readonly Item[]
  readonly next_cursor: string | null
}
