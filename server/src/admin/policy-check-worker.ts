/** Checks policies in a thread of its own, because a large one takes seconds. */
import { parentPort } from 'node:worker_threads'
import { examinePolicy, type PolicyToExamine } from './examine-policy.ts'

parentPort!.on('message', (policy: PolicyToExamine) => parentPort!.postMessage(examinePolicy(policy)))
