import { emailFault, personNameFault } from '../core/person-rules.ts'
import { passwordFault } from '../security/password-rules.ts'
import { type Operator, ROLES, type Role } from '../store/control/operators.ts'
import { invalid } from './problem.ts'

/** Refuses an email, a name or a role that an operator cannot have. */
export function requireValidOperator({ email, name, role }: Pick<Operator, 'email' | 'name' | 'role'>): void {
  const wrongEmail = emailFault(email)
  if (wrongEmail !== undefined) throw invalid('email_invalid', wrongEmail)
  requireValidName(name)
  requireRole(role)
}

/** Refuses a name that a person cannot have. */
export function requireValidName(name: string): void {
  const wrongName = personNameFault(name)
  if (wrongName !== undefined) throw invalid('name_invalid', wrongName)
}

/** Refuses a password that the account of a person must not have. */
export function requireValidPassword(password: string, person: Pick<Operator, 'email'>): void {
  const wrongPassword = passwordFault(password, person)
  if (wrongPassword !== undefined) throw invalid('password_invalid', wrongPassword)
}

/** The role that a text names. */
export function requireRole(text: string): Role {
  const role = ROLES.find((known) => known === text)
  if (!role) throw invalid('role_unknown', `${JSON.stringify(text)} is not a role. The roles are ${ROLES.join(', ')}.`)
  return role
}
