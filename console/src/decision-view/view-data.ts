import type { OutputOf } from '../api/operation-types.ts'

/** A recorded decision as the server shows it. */
export type ShownDecision = OutputOf<'decisions.show'>

/** What the view shows of an evaluation, recorded or not: a dry run is nothing else. */
export type ViewData = ShownDecision['view']

/** One rule of the trace, with what it looked at. */
export type ShownRule = ViewData['rules'][number]

/** A feature with its age and source, or why it is missing. */
export type ShownFeature = ViewData['features'][number]
