/** What a task costs: a quick one answers while a person waits for it, a slow one takes one thread of the pool at most. */
export type Lane = 'quick' | 'slow'

/** A pure function of a module that runs in a thread of the pool, with its bounds. */
export interface TaskFunction {
  /** The address of the module. */
  module: string
  /** The name of the exported function. */
  name: string
  lane: Lane
  /** The processor time that one call may take; the thread is ended then. */
  budgetMs: number
  /** What the function does with a policy, as in "takes longer than 10 s to check". */
  purpose: string
}

/** A function of the pool with the types of its input and its answer, both plain data. */
export interface Task<Input, Answer> extends TaskFunction {
  /** Never set: it carries the types. */
  readonly types?: (input: Input) => Answer
}

/** Declares a task; `Run` is the type of the function. */
export function defineTask<Run extends (input: never) => unknown>(
  task: TaskFunction,
): Task<Parameters<Run>[0], ReturnType<Run>> {
  return task
}

/** What a thread is asked. */
export interface TaskRequest {
  module: string
  name: string
  input: unknown
}

/** What a thread says: that a task begins now, its answer, or the error that it threw. */
export type TaskMessage = { begins: true } | { answer: unknown } | { error: Error }
