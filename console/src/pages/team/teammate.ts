import type { OutputOf } from '../../api/operation-types.ts'

/** The page's answer from the server. */
export type Team = OutputOf<'team.list'>

/** An operator of the organization. */
export type Teammate = Team['operators'][number]

/** A role with what it may do. */
export type RoleChoice = Team['roles'][number]
