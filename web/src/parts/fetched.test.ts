import { createRoot, createSignal } from 'solid-js';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

const [state, setState] = createSignal('live');
let resync: (() => void) | undefined;
vi.mock('../api/live', () => ({
  live: { connection: () => ({ state: state() }), on: () => () => undefined, onResync: (handler: () => void) => ((resync = handler), () => (resync = undefined)) },
}));
const { fetched } = await import('./fetched');
const { Problem } = await import('../api/problem');

let questions: { key: string; answer: (value: string) => void; fail: (error: unknown) => void; signal: AbortSignal }[] = [];
const ask = (key: string, signal: AbortSignal) => new Promise<string>((answer, fail) => questions.push({ key, answer, fail, signal }));
const settle = () => vi.advanceTimersByTimeAsync(0);

beforeEach(() => {
  questions = [];
  setState('live');
  vi.useFakeTimers();
  vi.stubGlobal('document', { visibilityState: 'visible', addEventListener: () => undefined, removeEventListener: () => undefined });
});
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

describe('what keeps itself up to date', () => {
  it('shows nothing of another key, also when its answer comes last', async () => {
    const [key, setKey] = createSignal<string | null>('a');
    const { value, end } = createRoot((dispose) => ({ value: fetched(key, ask), end: dispose }));
    setKey('b');
    expect(questions[0]?.signal.aborted).toBe(true);
    questions[1]?.answer('of b');
    questions[0]?.answer('of a');
    await settle();
    expect(value.data()).toBe('of b');
    setKey(null);
    expect(value.data()).toBeUndefined();
    expect(value.busy()).toBe(false);
    end();
  });

  it('asks again as soon as the connection is back', async () => {
    const { value, end } = createRoot((dispose) => ({ value: fetched(() => 'a', ask), end: dispose }));
    questions[0]?.answer('first');
    await settle();
    setState('reconnecting');
    value.refetch();
    await vi.advanceTimersByTimeAsync(2000);
    questions[1]?.fail(new Problem({ status: 0, code: 'page.offline', detail: 'gone' }));
    await settle();
    expect(value.data()).toBe('first');
    expect(value.problem()?.message).toBe('gone');
    setState('live');
    await vi.advanceTimersByTimeAsync(2000);
    questions[2]?.answer('second');
    await settle();
    expect(value.data()).toBe('second');
    expect(value.problem()).toBeNull();
    end();
  });

  it('leaves nothing behind', async () => {
    const end = createRoot((dispose) => (fetched(() => 'a', ask, { every: 5 }), dispose));
    end();
    expect(questions[0]?.signal.aborted).toBe(true);
    expect(resync).toBeUndefined();
    expect(vi.getTimerCount()).toBe(0);
  });
});
