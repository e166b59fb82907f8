/**
 * The kinds of problems. The console answers each with a status. The last two arise only before an act,
 * while a person signs in or confirms who they are.
 */
export type ProblemKind = 'not_found' | 'conflict' | 'forbidden' | 'invalid' | 'not_signed_in' | 'throttled'

/**
 * Why an act was not carried out. Every function of `admin/` fails with one; anything else that is thrown is a fault of the
 * service. The message is a sentence about what is so, without a hint: the console and the command line add their own.
 */
export class Problem extends Error {
  override name = 'Problem'
  readonly kind: ProblemKind
  /** A word for programs, such as `key_not_found`. */
  readonly code: string

  constructor(kind: ProblemKind, code: string, message: string) {
    super(message)
    this.kind = kind
    this.code = code
  }
}

/** What an act names is not there, or belongs to another organization. */
export function notFound(code: string, message: string): Problem {
  return new Problem('not_found', code, message)
}

/** What is stored stands against an act that is right in itself. */
export function conflict(code: string, message: string): Problem {
  return new Problem('conflict', code, message)
}

/** The actor may not do this. */
export function forbidden(code: string, message: string): Problem {
  return new Problem('forbidden', code, message)
}

/** The input cannot be right, whatever is stored. */
export function invalid(code: string, message: string): Problem {
  return new Problem('invalid', code, message)
}

/** Only before an act: the caller did not prove who they are. */
export function notSignedIn(code: string, message: string): Problem {
  return new Problem('not_signed_in', code, message)
}

/** Only before an act: further attempts to prove who the caller is are refused unchecked for a while. */
export function throttled(code: string, message: string): Problem {
  return new Problem('throttled', code, message)
}

/** The entity that the act is about was erased: nothing more is recorded of it. */
export function entityErased(entityId: string): Problem {
  return conflict('entity_erased', `${entityId} was erased, so nothing more is recorded about it.`)
}

/** Another operator was faster: what the act is based on has changed. */
export function changedMeanwhile(what: string): Problem {
  return conflict('changed_meanwhile', `Another operator changed ${what} at the same moment.`)
}

/** An entity that can have no more open offers. */
export function tooManyOffers(): Problem {
  return conflict('too_many_open_offers', 'This entity has as many open offers as it can have.')
}
