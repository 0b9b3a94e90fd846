import { describe, expect, it } from 'vitest';
import { actsFor, jobOfKey, plainVerdict, verdictParts } from './model';

const id = '01a1edd4-8bc5-7003-8fce-6c02149a0e8d';

describe('jobs', () => {
  it('may be steered as their state allows', () => {
    expect(actsFor({ state: 'running', held: false })).toEqual({ cancel: true, retry: false, hold: false, release: false });
    expect(actsFor({ state: 'pending', held: true })).toEqual({ cancel: true, retry: false, hold: false, release: true });
    expect(actsFor({ state: 'failed', held: false })).toEqual({ cancel: false, retry: true, hold: false, release: false });
    expect(actsFor({ state: 'completed', held: false })).toEqual({ cancel: false, retry: false, hold: false, release: false });
  });
  it('name the jobs they wait for', () => {
    expect(jobOfKey(`job-http::${id}`)).toBe(id);
    expect(jobOfKey('http-status::web')).toBeNull();
    expect(verdictParts(`needs: waits for "job-http::${id}" first`)).toEqual([{ text: 'needs: waits for ' }, { job: id }, { text: ' first' }]);
    expect(verdictParts('admission: resource "cpu" has 0 of 4 free')).toEqual([{ text: 'admission: resource "cpu" has 0 of 4 free' }]);
    expect(plainVerdict({ state: 'pending', held: true, verdict: 'enabled: disabled' })).toContain('releases');
    expect(plainVerdict({ state: 'running', held: false })).toBe('');
  });
});
