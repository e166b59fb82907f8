import type { Task } from '../threads/task.ts'
import { type TaskClient, TaskTooCostly, type ThreadPool } from '../threads/thread-pool.ts'
import { invalid } from './problem.ts'

/** Runs a task on a policy in a thread of the pool; a policy that takes too much time or memory is a problem. */
export async function runPolicyTask<Input, Answer>(
  threads: ThreadPool,
  task: Task<Input, Answer>,
  { input, client }: { input: Input; client: TaskClient },
): Promise<Answer> {
  try {
    return await threads.run(task, input, client)
  } catch (error) {
    if (error instanceof TaskTooCostly) throw invalid('policy_too_costly', error.message)
    throw error
  }
}
