// Credentials between a form and the API. Secrets go one way: the server shows only where one is kept, and what
// is left empty stays. Pure, for its test.

export type CredentialSpec = Record<string, unknown>;

export interface CredentialPart {
  name: string;
  label: string;
  secret?: boolean;
  needed?: boolean;
  help?: string;
  placeholder?: string;
  choices?: readonly string[];
}

export interface CredentialKind {
  id: string;
  label: string;
  parts: readonly CredentialPart[];
}

const kUser: CredentialPart = { name: 'username', label: 'User name', needed: true };

export const kCredentialKinds: readonly CredentialKind[] = [
  { id: 'password', label: 'User name and password (HTTP, SSH)', parts: [kUser, { name: 'password', label: 'Password', secret: true, needed: true }, { name: 'auth', label: 'Shown as', choices: ['', 'basic', 'digest'], help: 'Over HTTP; none: as the addon says, else basic.' }] },
  { id: 'community', label: 'Community (SNMP 1 and 2c)', parts: [{ name: 'community', label: 'Community', secret: true, needed: true }] },
  {
    id: 'snmp3',
    label: 'User of SNMPv3',
    parts: [
      { ...kUser, help: 'The security name.' },
      { name: 'snmp_auth', label: 'Authentication', choices: ['', 'sha256', 'sha512', 'sha384', 'sha224', 'sha1', 'md5'] },
      { name: 'snmp_auth_password', label: 'Password of the authentication', secret: true, help: 'At least 8 characters.' },
      { name: 'snmp_privacy', label: 'Privacy', choices: ['', 'aes128', 'aes192', 'aes256', 'aes192c', 'aes256c', 'des'] },
      { name: 'snmp_privacy_password', label: 'Password of the privacy', secret: true, help: 'At least 8 characters; privacy needs authentication.' },
      { name: 'snmp_context', label: 'Context (optional)' },
    ],
  },
  {
    id: 'token',
    label: 'Token or secret (HTTP, receivers)',
    parts: [
      { name: 'token', label: 'Token', secret: true, needed: true },
      { name: 'auth', label: 'Shown as', choices: ['', 'bearer', 'api_key'], help: 'None: as the addon says, else bearer.' },
      { name: 'header', label: 'Header of an API key (optional)', placeholder: 'X-API-Key' },
    ],
  },
  {
    id: 'ssh',
    label: 'Key for SSH',
    parts: [
      kUser,
      { name: 'ssh_key', label: 'Private key', needed: true, placeholder: '/etc/pollux/ssh_key', help: 'A file on the server.' },
      { name: 'ssh_key_password', label: 'Passphrase (optional)', secret: true },
    ],
  },
  {
    id: 'certificate',
    label: 'Certificate of a client (HTTPS)',
    parts: [
      { name: 'client_certificate', label: 'Certificate', needed: true, placeholder: '/etc/pollux/client.pem', help: 'A file on the server.' },
      { name: 'client_key', label: 'Key', placeholder: '/etc/pollux/client.key', help: 'A file on the server.' },
      { name: 'client_key_password', label: 'Password of the key (optional)', secret: true },
    ],
  },
];

export function kindOf(spec: CredentialSpec): CredentialKind {
  const id =
    spec['snmp_auth'] !== undefined || spec['snmp_context'] !== undefined ? 'snmp3'
    : spec['community'] !== undefined ? 'community'
    : spec['ssh_key'] !== undefined ? 'ssh'
    : spec['client_certificate'] !== undefined ? 'certificate'
    : spec['token'] !== undefined ? 'token'
    : 'password';
  return kCredentialKinds.find((one) => one.id === id) as CredentialKind;
}

const kAllParts = new Set(kCredentialKinds.flatMap((kind) => kind.parts.map((part) => part.name)));

/**
 * What is stored: parts of this kind as they were typed; secrets that were left empty, and what the form does not
 * show, as they are. Of another kind only what no form knows stays.
 */
export function credentialSpec(kind: CredentialKind, values: Readonly<Record<string, string>>, before: CredentialSpec = {}): CredentialSpec {
  const shown = kindOf(before).id === kind.id ? new Set(kind.parts.map((part) => part.name)) : kAllParts;
  const spec: CredentialSpec = Object.fromEntries(Object.entries(before).filter(([name]) => !shown.has(name)));
  for (const part of kind.parts) {
    const value = values[part.name] ?? '';
    if (value !== '') spec[part.name] = part.secret ? value : value.trim();
    else if (part.secret && before[part.name] !== undefined) spec[part.name] = before[part.name];
  }
  return spec;
}

/** What a form begins with: never a secret. */
export function valuesOf(kind: CredentialKind, spec: CredentialSpec): Record<string, string> {
  return Object.fromEntries(kind.parts.filter((part) => !part.secret && typeof spec[part.name] === 'string').map((part) => [part.name, spec[part.name] as string]));
}

export function missing(kind: CredentialKind, values: Readonly<Record<string, string>>, before: CredentialSpec = {}): string[] {
  const spec = credentialSpec(kind, values, before);
  return kind.parts.filter((part) => part.needed && spec[part.name] === undefined).map((part) => part.name);
}

/** "user monitor, password, token": what it holds, in words and without what is secret. */
export function credentialWords(spec: CredentialSpec): string {
  const words = Object.keys(spec).filter((name) => name !== 'username').map((name) => name.replaceAll('_', ' '));
  return [...(typeof spec['username'] === 'string' ? [`user ${spec['username']}`] : []), ...words].join(', ');
}
