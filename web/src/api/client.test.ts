import { webcrypto } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { api, isAbort, whenAnswered } from './client';
import type { Problem } from './client';

/** A server that takes the question and says nothing. */
const silent = (_: string, { signal }: { signal: AbortSignal }) =>
  new Promise((_done, failed) => signal.addEventListener('abort', () => failed(new DOMException('ended', 'AbortError'))));

beforeEach(() => {
  vi.useFakeTimers();
  vi.stubGlobal('document', { baseURI: 'http://host.example/' });
  // Node 18 has it in a module only.
  vi.stubGlobal('crypto', webcrypto);
  vi.stubGlobal('fetch', vi.fn(silent));
});
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

describe('requests', () => {
  it('do not wait for ever for an answer that changes nothing', async () => {
    const failed = api.get('api/fleet').catch((error: unknown) => error as Problem);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(await failed).toMatchObject({ code: 'page.late', status: 0 });
  });
  it('have more patience where it is given', async () => {
    let ended = false;
    const failed = api.get('api/audit/verify', { patience: 300_000 }).catch(() => (ended = true));
    await vi.advanceTimersByTimeAsync(200_000);
    expect(ended).toBe(false);
    await vi.advanceTimersByTimeAsync(200_000);
    await failed;
    expect(ended).toBe(true);
  });
  it('are not given up when they change something', async () => {
    let ended = false;
    void api.post('api/jobs', {}).catch(() => (ended = true));
    await vi.advanceTimersByTimeAsync(600_000);
    expect(ended).toBe(false);
  });
  it('end when who asked does not want the answer any more', async () => {
    const asker = new AbortController();
    const failed = api.get('api/fleet', { signal: asker.signal }).catch((error: unknown) => error);
    asker.abort();
    expect(isAbort(await failed)).toBe(true);
    expect(vi.getTimerCount()).toBe(0);
  });
  it('tell whether the server itself answered, also when a proxy did instead of it', async () => {
    const told: boolean[] = [];
    whenAnswered((reached) => told.push(reached));
    const answer = (status: number, type: string) => vi.stubGlobal('fetch', () => Promise.resolve(new Response('{}', { status, headers: { 'Content-Type': type } })));
    const ask = () => api.get('api/fleet').catch(() => undefined);
    answer(200, 'application/json');
    await ask();
    answer(404, 'application/problem+json');
    await ask();
    answer(503, 'application/problem+json');
    await ask();
    answer(502, 'text/html');
    await ask();
    vi.stubGlobal('fetch', () => Promise.reject(new TypeError('refused')));
    await ask();
    vi.stubGlobal('fetch', vi.fn(silent));
    void ask();
    await vi.advanceTimersByTimeAsync(60_000);
    whenAnswered(() => undefined);
    expect(told).toEqual([true, true, true, false, false, false]);
  });
});
