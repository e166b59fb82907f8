/** One problem of a log, with the leaves it concerns; spans include both ends. */
export type LogProblem =
  | { kind: 'entry_edited'; leafIndex: number; entryId: string; sealedHash: string; foundHash: string | null }
  | { kind: 'entry_removed'; leafIndex: number; entryId: string }
  | { kind: 'leaf_missing'; leafIndex: number; lastLeafIndex: number }
  | { kind: 'leaf_repeated'; leafIndex: number; entryId: string }
  | { kind: 'leaf_outside'; leafIndex: number; entryId: string }
  | { kind: 'leaf_moved'; leafIndex: number; entryId: string; sealedAt: number }
  | { kind: 'leaves_altered'; leafIndex: number; lastLeafIndex: number; entryId: string; treeSize: number }
  | { kind: 'leaves_unsealed'; leafIndex: number; lastLeafIndex: number; entryId: string }
  | { kind: 'log_truncated'; leafIndex: number; treeSize: number }
  | { kind: 'head_signature_invalid'; treeSize: number; keyId: string }
  | { kind: 'head_key_unknown'; treeSize: number; keyId: string }
  | { kind: 'head_key_retired'; treeSize: number; keyId: string }
  | { kind: 'heads_conflict'; treeSize: number; rootHashes: [string, string] }
  | { kind: 'heads_inconsistent'; firstTreeSize: number; secondTreeSize: number }

/** How much of a log was read, and how many trusted heads it agrees with. */
export interface LogFigures {
  leaves: number
  treeSize: number
  /** The root over the stored leaves; null if leaves are missing. */
  rootHash: string | null
  headsVerified: number
  /** Trusted heads that the log does not agree with, because leaves are missing or altered. */
  headsUnverified: number
}

/** The result of verifying a log. */
export type LogReport =
  | { status: 'intact'; figures: LogFigures }
  | { status: 'tampered'; figures: LogFigures; problems: LogProblem[]; problemsOmitted: number }

/** Collects problems, up to a limit; beyond it they are only counted. */
export class ProblemList {
  // Bounds the memory that a report takes, even if every entry of a large log was edited.
  static readonly LISTED_MAX = 1000
  readonly listed: LogProblem[] = []
  omitted = 0

  add(problem: LogProblem): void {
    if (this.listed.length < ProblemList.LISTED_MAX) this.listed.push(problem)
    else this.omitted += 1
  }
}

/** Describes a problem in one sentence. */
export function describeProblem(problem: LogProblem): string {
  switch (problem.kind) {
    case 'entry_edited':
      return `Entry ${problem.entryId} was edited: its hash is not the one sealed as leaf ${problem.leafIndex}.`
    case 'entry_removed':
      return `Entry ${problem.entryId}, sealed as leaf ${problem.leafIndex}, was removed.`
    case 'leaf_missing':
      return `${leavesText(problem)} missing.`
    case 'leaf_repeated':
      return `Leaf ${problem.leafIndex} is stored twice, the second time with entry ${problem.entryId}.`
    case 'leaf_outside':
      return `Leaf ${problem.leafIndex} with entry ${problem.entryId} was inserted: the log begins with leaf 0.`
    case 'leaf_moved':
      return `Entry ${problem.entryId} was moved to leaf ${problem.leafIndex}: it was sealed as leaf ${problem.sealedAt}.`
    case 'leaves_altered':
      return `${leavesText(problem)} altered: the signed head of ${problem.treeSize} leaves has another root; the first entry is ${problem.entryId}.`
    case 'leaves_unsealed':
      return `${leavesText(problem)} not covered by any trusted head; the first entry is ${problem.entryId}.`
    case 'log_truncated':
      return `The log ends before leaf ${problem.leafIndex}, but a signed head covers ${problem.treeSize} leaves.`
    case 'head_signature_invalid':
      return `The head of ${problem.treeSize} leaves has no valid signature of key ${problem.keyId}.`
    case 'head_key_unknown':
      return `The head of ${problem.treeSize} leaves is signed with the unknown key ${problem.keyId}.`
    case 'head_key_retired':
      return `The head of ${problem.treeSize} leaves is signed with key ${problem.keyId}, which an earlier head had replaced.`
    case 'heads_conflict':
      return `Two signed heads of ${problem.treeSize} leaves have different roots.`
    case 'heads_inconsistent':
      return `The head of ${problem.secondTreeSize} leaves does not extend the head of ${problem.firstTreeSize} leaves.`
  }
}

function leavesText({ leafIndex, lastLeafIndex }: { leafIndex: number; lastLeafIndex: number }): string {
  return leafIndex === lastLeafIndex ? `Leaf ${leafIndex} is` : `Leaves ${leafIndex} to ${lastLeafIndex} are`
}
