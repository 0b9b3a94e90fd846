/** "user:admin" -> "admin", "token:ops" -> "token ops". */
export function who(principal: string | undefined): string {
  if (principal === undefined || principal === '') return '';
  return principal.startsWith('user:') ? principal.slice(5) : principal.replace(':', ' ');
}
