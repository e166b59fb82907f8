/** A problem of a policy: where it is in the document, and what to do about it. */
export interface PolicyProblem {
  /** Keys and indices from the root of the document. */
  path: readonly (string | number)[]
  message: string
  /** A problem that does not prevent proposing the policy: its author should know a consequence. */
  isWarning?: true
  /** The character within the text at `path`, for problems inside an expression. */
  offset?: number
  /** The position in the source text, counted from one. */
  line?: number
  column?: number
}

/** Describes a problem in one line, with its position. */
export function describeProblem({ path, message, line, column, isWarning }: PolicyProblem): string {
  const place = line === undefined ? `/${path.join('/')}` : `${line}:${column} /${path.join('/')}`
  return `${place}: ${isWarning ? 'warning: ' : ''}${message}`
}

/** Whether a problem leaves the policy usable. */
export function isWarning(problem: PolicyProblem): boolean {
  return problem.isWarning === true
}
