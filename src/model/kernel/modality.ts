/** Who does a step. Lifecycle events carry this word. */
export type Modality = 'agent' | 'human' | 'workflow'
