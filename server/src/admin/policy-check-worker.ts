/** Checks policies in a thread of its own, because a large one takes seconds. */
import { parentPort } from 'node:worker_threads'
import { checkSource, examinePolicy, type PolicyToExamine } from './examine-policy.ts'

/** What the thread is asked: whether a policy may be used, or what is wrong with a text. */
export type PolicyCheckRequest = { examine: PolicyToExamine } | { check: string }

parentPort!.on('message', (request: PolicyCheckRequest) =>
  parentPort!.postMessage('examine' in request ? examinePolicy(request.examine) : checkSource(request.check)),
)
