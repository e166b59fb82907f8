import type { FactSet } from '../facts/facts.ts'
import { ELDERLY, type PersonalBasis } from '../policy/feature-subjects.ts'
import type { PolicyDocument } from '../policy/policy-document.ts'

/** Decisions about applicants who are alike in a monitored attribute, and how many of them each side approves. */
export interface MonitoredGroup {
  /** The value, a band of it, or `other values`; null if it is not known. */
  value: string | null
  decided: number
  approved_before: number
  approved_after: number
}

/** How the groups of a monitored attribute fare. */
export interface MonitoredAttribute {
  feature: string
  describes: PersonalBasis
  groups: MonitoredGroup[]
}

/** Counts of one attribute by value; of unknown values by `null`. */
export interface MonitoredCounts extends Omit<MonitoredAttribute, 'groups'> {
  groups: Map<string | null, MonitoredGroup>
}

/** Counts of no decisions. */
export function noMonitored({ monitored = [] }: PolicyDocument): MonitoredCounts[] {
  return monitored.map(({ feature, describes }) => ({ feature, describes, groups: new Map() }))
}

/** Counts a decision in the group of its applicant, for each attribute. */
export function countMonitored(
  counts: readonly MonitoredCounts[],
  features: FactSet,
  { before, after }: Record<'before' | 'after', { isApproved: boolean }>,
): void {
  for (const { feature, describes, groups } of counts) {
    const value = groupOf(features[feature], describes)
    addGroup(groups, {
      value,
      decided: 1,
      approved_before: before.isApproved ? 1 : 0,
      approved_after: after.isApproved ? 1 : 0,
    })
  }
}

/** Adds the counts of other decisions. */
export function addMonitored(counts: readonly MonitoredCounts[], others: readonly MonitoredCounts[]): void {
  for (const [index, { groups }] of counts.entries())
    for (const group of others[index]!.groups.values()) addGroup(groups, group)
}

/** The most groups of one attribute that a result lists. */
const GROUPS_MAX = 20
const OTHER_VALUES = 'other values'

/** The groups of each attribute, the largest first; the smallest of many are put together. */
export function monitoredAttributes(counts: readonly MonitoredCounts[]): MonitoredAttribute[] {
  return counts.map(({ feature, describes, groups }) => {
    const sorted = [...groups.values()].sort(
      (a, b) => b.decided - a.decided || ((a.value ?? '') < (b.value ?? '') ? -1 : 1),
    )
    const others = new Map<string | null, MonitoredGroup>()
    for (const group of sorted.slice(GROUPS_MAX)) addGroup(others, { ...group, value: OTHER_VALUES })
    return { feature, describes, groups: [...sorted.slice(0, GROUPS_MAX), ...others.values()] }
  })
}

function addGroup(groups: Map<string | null, MonitoredGroup>, added: MonitoredGroup): void {
  const group = groups.get(added.value) ?? { value: added.value, decided: 0, approved_before: 0, approved_after: 0 }
  group.decided += added.decided
  group.approved_before += added.approved_before
  group.approved_after += added.approved_after
  groups.set(added.value, group)
}

/** Ages are told apart as the law does; other values are groups by themselves. */
function groupOf(fact: FactSet[string] | undefined, describes: PersonalBasis): string | null {
  if (fact === undefined || !('value' in fact)) return null
  const { value } = fact
  if (describes !== 'age' || typeof value !== 'number') return String(value)
  return value >= ELDERLY ? `${ELDERLY} years or more` : `under ${ELDERLY} years`
}
