import { describe, expect, it } from 'vitest';
import { credentialSpec, credentialWords, kCredentialKinds, kindOf, missing, valuesOf } from './credential';
import type { CredentialKind } from './credential';

const kind = (id: string) => kCredentialKinds.find((one) => one.id === id) as CredentialKind;

describe('a credential', () => {
  it('is stored as it was typed, without what was left empty', () => {
    expect(credentialSpec(kind('password'), { username: ' monitor ', password: ' with blanks ' })).toEqual({ username: 'monitor', password: ' with blanks ' });
    expect(credentialSpec(kind('snmp3'), { username: 'u', snmp_auth: 'sha256', snmp_auth_password: 'hunter22', snmp_context: '' })).toEqual({ username: 'u', snmp_auth: 'sha256', snmp_auth_password: 'hunter22' });
  });
  it('keeps secrets that are not typed anew, and what no form knows', () => {
    const before = { username: 'old', password: 'vault:portal/password', ssh_agent: true };
    expect(credentialSpec(kind('password'), { username: 'new' }, before)).toEqual({ username: 'new', password: 'vault:portal/password', ssh_agent: true });
    expect(credentialSpec(kind('password'), { username: 'new', password: 'typed' }, before)).toEqual({ username: 'new', password: 'typed', ssh_agent: true });
    expect(credentialSpec(kind('password'), { username: 'new', auth: 'digest' }, { ...before, header: 'X-Key' })).toEqual({ username: 'new', password: 'vault:portal/password', auth: 'digest', ssh_agent: true, header: 'X-Key' });
    expect(credentialSpec(kind('community'), { community: 'c' }, before)).toEqual({ community: 'c', ssh_agent: true });
  });
  it('never brings a secret into a form', () => {
    expect(valuesOf(kind('password'), { username: 'u', password: 'vault:portal/password' })).toEqual({ username: 'u' });
    for (const one of kCredentialKinds) for (const part of one.parts) expect(/password|token|community/.test(part.name)).toBe(part.secret === true);
  });
  it('knows its kind', () => {
    for (const one of kCredentialKinds) {
      const spec = Object.fromEntries(one.parts.map((part) => [part.name, part.choices?.[1] ?? 'x']));
      expect(kindOf(spec).id).toBe(one.id);
    }
    expect(kindOf({}).id).toBe('password');
  });
  it('says what is missing, and what it holds', () => {
    expect(missing(kind('password'), { username: 'u' })).toEqual(['password']);
    expect(missing(kind('password'), { username: 'u' }, { password: 'vault:a/password' })).toEqual([]);
    expect(credentialWords({ username: 'monitor', password: 'vault:x', client_key: '/k' })).toBe('user monitor, password, client key');
  });
});
