/**
 * The JSON blocks of the executor contract, character by character, as both sides agreed on them.
 *
 * Owns only the texts. They are never changed to match code: code changes to match them.
 */
const TASK_ID = `"task_id": "uuid-v4"`

const EXECUTOR_TYPE = `"executor_type": "llm"`

const TASK = `"task": {
  "task_type": "generate_template",
  "prompt": "Generate a supplier contract template...",
  "input_variables": {
    "supplier_name": "ACME Ltd",
    "jurisdiction": "Denmark"
  }
}`

const EXECUTION_CONTEXT = `"execution_context": {
  "project_id": 1,
  "conversation_snippet": [
    { "role": "user", "content": "..." },
    { "role": "assistant", "content": "..." }
  ],
  "retrieved_documents": [
    { "title": "Supplier Contract v2", "snippet": "..." }
  ]
}`

const CONSTRAINTS = `"constraints": {
  "max_tokens": 2000,
  "temperature": 0.3,
  "allowed_models": ["gpt-4.1", "local-llm-v1"],
  "timeout_ms": 30000
}`

const STATUS = `"status": "success"`

const RESULT = `"result": {
  "content": "Here is the supplier contract template...",
  "format": "markdown"
}`

const USAGE = `"usage": {
  "tokens_input": 820,
  "tokens_output": 1340,
  "total_tokens": 2160,
  "estimated_cost": 0.21
}`

const MODEL_USED = `"model_used": "gpt-4.1"`

export const FAILURE = `{
  "status": "failed",
  "error": {
    "code": "MODEL_TIMEOUT",
    "message": "Execution exceeded 30s"
  }
}`

const objectOf = (...blocks: readonly string[]): string => `{${blocks.join(',\n')}}`

export const ENVELOPE = objectOf(TASK_ID, EXECUTOR_TYPE, TASK, EXECUTION_CONTEXT, CONSTRAINTS)
export const SUCCESS = objectOf(STATUS, RESULT, USAGE, MODEL_USED)
