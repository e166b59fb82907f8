/** The tests of the trust graph with many more orders of the same reports: nodes receive them in whatever order they come. */
import { ordersTried } from '../tests/orders-tried.ts'
import { trials } from './proof-run.ts'

ordersTried.atMost = trials(8, 3)
// Imported when the number is set: the tests begin as they are read.
await import('../tests/trust-graph-order.test.ts')
