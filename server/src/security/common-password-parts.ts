/**
 * Words that leaked password lists are made of, chosen from what such lists have in common: names of the thing itself,
 * greetings, first names, sports, animals, months, keyboards. Attackers join them, double them and add digits; see
 * `password-rules.ts`. Lower case, without the spellings that digits stand in for.
 */
const WORDS = `
password passwort passwd passw pass contrasena motdepasse senha parola secret geheim login signin signup admin
administrator administrador root toor superuser sysadmin manager master guest user username test testing tester demo
example sample default changeme change letmein letme welcome willkommen bienvenue hello hallo access system server
database computer internet windows microsoft google facebook apple amazon samsung nokia android linux ubuntu oracle
postgres mysql cisco router network security secure safety private temp temporary
iloveyou ilove youandme love lovely lover loveme forever always never baby babygirl honey sweet sweetheart angel princess
prince queen king kingdom beautiful pretty sunshine sunflower flower rainbow butterfly star starwars superstar
superman batman spiderman pokemon naruto dragon dragonball monkey shadow tiger lion panther eagle falcon wolf bear
horse correct battery staple puppy kitty dolphin football baseball basketball hockey soccer fussball liverpool arsenal chelsea barcelona
realmadrid juventus bayern manchester united yankees cowboys steelers lakers ferrari porsche mercedes mustang corvette
harley yamaha honda toyota michael jordan jennifer jessica michelle ashley amanda nicole daniel david thomas robert
charlie george andrew matthew joshua anthony william alexander christian maria anna julia sarah laura peter martin
stefan andreas thunder lightning hunter killer ninja samurai warrior soldier phoenix matrix freedom liberty trustno
whatever nothing something secretword mypassword mypass chocolate cookie cheese banana orange pepper ginger summer
winter spring autumn sommer monday tuesday wednesday thursday friday saturday sunday january february march april june
july august september october november december jesus christ blessed heaven family mother father brother sister
friend friends friendship company office money dollar bitcoin finance credit bank trust score verdigraph green
blue black white yellow purple silver golden gold diamond crystal mercury jupiter saturn galaxy universe world
america canada germany france england london berlin paris madrid newyork california texas florida
qwerty qwertz azerty zxcvbn asdfgh my your the new now one two three number first last
`

/** The words, longest first, so that the longest match is tried first. */
export const COMMON_PARTS: readonly string[] = WORDS.trim()
  .split(/\s+/)
  .sort((one, other) => other.length - one.length)

/** Rows and columns of keyboards, and the orders that people type characters in. */
export const WALKS: readonly string[] = [
  'qwertyuiop',
  'qwertzuiop',
  'azertyuiop',
  'asdfghjkl',
  'zxcvbnm',
  'yxcvbnm',
  'wxcvbn',
  '1qaz2wsx3edc4rfv5tgb6yhn7ujm8ik',
  '1q2w3e4r5t6y7u8i9o0p',
  'qazwsxedcrfvtgbyhnujmikolp',
  '!@#$%^&*()',
  'abcdefghijklmnopqrstuvwxyz',
]
