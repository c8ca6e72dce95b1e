/**
 * The executors that come with the house, by type.
 *
 * Owns the list. What they need of the outside is handed in; a type whose needs nobody meets is not there, and says so when asked.
 */
import type { DocumentReader } from '../ports/documents.ts'
import type { Executor } from '../ports/executor.ts'
import { type ClassifierDeps, classifier } from './workflow/built-in/classifier.ts'
import { documentProcessor } from './workflow/built-in/document-processor.ts'
import { llm } from './workflow/built-in/llm.ts'
import { templateEngine } from './workflow/built-in/template-engine.ts'
import { type ToolBroker, toolCall } from './workflow/built-in/tool-call.ts'
import { inlineExecutor } from './workflow/inline.ts'

export interface Hands {
  readonly models: ClassifierDeps
  readonly documents: DocumentReader
  /** Absent: tools are for agents alone. */
  readonly broker?: ToolBroker
}

export const builtInExecutors = ({ models, documents, broker }: Hands): ReadonlyMap<string, Executor> =>
  new Map([
    ['inline', inlineExecutor],
    ['template_engine', templateEngine],
    ['document_processor', documentProcessor(documents)],
    ['classifier', classifier(models)],
    ['llm', llm(models)],
    ...(broker === undefined ? [] : [['tool_call', toolCall(broker)] as const]),
  ])
