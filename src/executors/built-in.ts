/**
 * The executors that come with Trihand, by type.
 *
 * Owns the list. What they need of the outside is handed in; a type whose needs nobody meets is not there, and says so when asked. All but
 * `inline` are loaded with their first task: 40 KB of code that most starts do not need.
 */
import type { ClassifierDeps } from '#executors/workflow/built-in/classifier.ts'
import type { ToolBroker } from '#executors/workflow/built-in/tool-call.ts'
import { inlineExecutor } from '#executors/workflow/inline.ts'
import type { DocumentReader } from '#ports/documents.ts'
import type { Executor } from '#ports/executor.ts'

export interface Hands {
  readonly models: ClassifierDeps
  readonly documents: DocumentReader
  /** Absent: tools are for agents alone. */
  readonly broker?: ToolBroker
}

const onDemand = (load: () => Promise<Executor>): Executor => {
  let loading: Promise<Executor> | null = null
  return {
    execute: async (envelope, abort) => {
      loading ??= load()
      const { execute } = await loading
      return execute(envelope, abort)
    },
  }
}

export const builtInExecutors = ({ models, documents, broker }: Hands): ReadonlyMap<string, Executor> =>
  new Map([
    ['inline', inlineExecutor],
    [
      'template_engine',
      onDemand(async () => (await import('#executors/workflow/built-in/template-engine.ts')).templateEngine),
    ],
    [
      'document_processor',
      onDemand(async () =>
        (await import('#executors/workflow/built-in/document-processor.ts')).documentProcessor(documents),
      ),
    ],
    [
      'classifier',
      onDemand(async () => (await import('#executors/workflow/built-in/classifier.ts')).classifier(models)),
    ],
    ['llm', onDemand(async () => (await import('#executors/workflow/built-in/llm.ts')).llm(models))],
    ...(broker === undefined
      ? []
      : [
          [
            'tool_call',
            onDemand(async () => (await import('#executors/workflow/built-in/tool-call.ts')).toolCall(broker)),
          ] as const,
        ]),
  ])
