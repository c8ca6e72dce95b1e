/**
 * The executors that come with Trihand, by type.
 *
 * Owns the list. Their dependencies are passed in; a type whose dependencies are missing is absent, and fails with a clear error when used. All
 * are loaded with their first task: 40 KB of code that most starts do not need.
 */
import type { ClassifierDeps } from '#executors/workflow/built-in/classifier.ts'
import type { ToolBroker } from '#executors/workflow/built-in/tool-call.ts'
import type { DocumentReader } from '#ports/documents.ts'
import type { Executor } from '#ports/executor.ts'

export interface BuiltInParts {
  readonly models: ClassifierDeps
  readonly documents: DocumentReader
  /** Absent: only agents can use tools. */
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

export const builtInExecutors = ({ models, documents, broker }: BuiltInParts): ReadonlyMap<string, Executor> =>
  new Map([
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
