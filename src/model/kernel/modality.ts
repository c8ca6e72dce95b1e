/** What executes a step. The types of lifecycle events begin with it. */
export type Modality = 'agent' | 'human' | 'workflow'
