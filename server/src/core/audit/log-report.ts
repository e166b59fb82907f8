/** One thing that is wrong with a log, naming the leaves concerned; spans include both ends. */
export type LogProblem =
  | { kind: 'entry_edited'; leafIndex: number; entryId: string; sealedHash: string; foundHash: string | null }
  | { kind: 'entry_removed'; leafIndex: number; entryId: string }
  | { kind: 'leaf_missing'; leafIndex: number; lastLeafIndex: number }
  | { kind: 'leaf_repeated'; leafIndex: number; entryId: string }
  | { kind: 'leaf_moved'; leafIndex: number; entryId: string; sealedAt: number }
  | { kind: 'leaves_altered'; leafIndex: number; lastLeafIndex: number; entryId: string; treeSize: number }
  | { kind: 'leaves_unsealed'; leafIndex: number; lastLeafIndex: number; entryId: string }
  | { kind: 'log_truncated'; leafIndex: number; treeSize: number }
  | { kind: 'head_signature_invalid'; treeSize: number; keyId: string }
  | { kind: 'head_key_unknown'; treeSize: number; keyId: string }
  | { kind: 'heads_conflict'; treeSize: number; rootHashes: [string, string] }
  | { kind: 'heads_inconsistent'; firstTreeSize: number; secondTreeSize: number }

/** How much was looked at, and how much of it a trusted head vouches for. */
export interface LogFigures {
  leaves: number
  treeSize: number
  /** The root over the leaves as they are stored; null where leaves are missing. */
  rootHash: string | null
  headsVerified: number
  /** Heads that the log could not be shown to agree with, because leaves are missing or altered. */
  headsUnverified: number
}

/** What verifying a log has found. */
export type LogReport =
  | { status: 'intact'; figures: LogFigures }
  | { status: 'tampered'; figures: LogFigures; problems: LogProblem[]; problemsOmitted: number }

/** The problems found so far, of which a report lists no more than it can hold. */
export class ProblemList {
  // A log whose every entry was edited must not be held in memory to say so.
  static readonly LISTED_MAX = 1000
  readonly listed: LogProblem[] = []
  omitted = 0

  add(problem: LogProblem): void {
    if (this.listed.length < ProblemList.LISTED_MAX) this.listed.push(problem)
    else this.omitted += 1
  }
}

/** Says in one sentence what is wrong and where. */
export function describeProblem(problem: LogProblem): string {
  switch (problem.kind) {
    case 'entry_edited':
      return `Entry ${problem.entryId} is not what was sealed as leaf ${problem.leafIndex}.`
    case 'entry_removed':
      return `Entry ${problem.entryId}, sealed as leaf ${problem.leafIndex}, is gone.`
    case 'leaf_missing':
      return `${leavesText(problem)} missing.`
    case 'leaf_repeated':
      return `Leaf ${problem.leafIndex} occurs again, with entry ${problem.entryId}.`
    case 'leaf_moved':
      return `Entry ${problem.entryId} stands at leaf ${problem.leafIndex}, but was sealed as leaf ${problem.sealedAt}.`
    case 'leaves_altered':
      return `${leavesText(problem)} not what the head of ${problem.treeSize} leaves was signed over; the first is entry ${problem.entryId}.`
    case 'leaves_unsealed':
      return `${leavesText(problem)} covered by no trusted head; the first is entry ${problem.entryId}.`
    case 'log_truncated':
      return `The log ends before leaf ${problem.leafIndex}, but a signed head counts ${problem.treeSize} leaves.`
    case 'head_signature_invalid':
      return `The head of ${problem.treeSize} leaves does not bear a valid signature of key ${problem.keyId}.`
    case 'head_key_unknown':
      return `The head of ${problem.treeSize} leaves is signed by key ${problem.keyId}, which is not known.`
    case 'heads_conflict':
      return `Two signed heads of ${problem.treeSize} leaves have different roots.`
    case 'heads_inconsistent':
      return `The head of ${problem.secondTreeSize} leaves does not continue the head of ${problem.firstTreeSize} leaves.`
  }
}

function leavesText({ leafIndex, lastLeafIndex }: { leafIndex: number; lastLeafIndex: number }): string {
  return leafIndex === lastLeafIndex ? `Leaf ${leafIndex} is` : `Leaves ${leafIndex} to ${lastLeafIndex} are`
}
