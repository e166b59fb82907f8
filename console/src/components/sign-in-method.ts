const METHODS: Readonly<Record<string, string>> = {
  first_link: 'the first link',
  invitation: 'an invitation',
  password: 'password',
  password_and_code: 'password and code',
  passkey: 'passkey',
  oidc: 'single sign-on',
}

/** How a person signed in, after "by". */
export function signInMethod(method: string): string {
  return METHODS[method] ?? method
}
