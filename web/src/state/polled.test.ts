import { createRoot, createSignal } from 'solid-js';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Polled, PolledOptions } from './polled';

const [state, setState] = createSignal('live');
vi.mock('../api/live', () => ({ live: { connection: () => ({ state: state() }), on: () => () => undefined, onResync: () => () => undefined } }));
const { polled } = await import('./polled');

interface Question {
  answer: (value: string) => void;
  fail: (error: Error) => void;
  aborted: () => boolean;
}

let questions: Question[] = [];
let look: (() => void) | undefined;
const page = { visibilityState: 'visible', addEventListener: (_: string, handler: () => void) => (look = handler), removeEventListener: () => (look = undefined) };
const settle = () => vi.advanceTimersByTimeAsync(0);

function ask(signal: AbortSignal): Promise<string> {
  return new Promise((answer, fail) => {
    questions.push({ answer, fail, aborted: () => signal.aborted });
    signal.addEventListener('abort', () => fail(new DOMException('ended', 'AbortError')));
  });
}

function made(options: PolledOptions = {}): { value: Polled<string>; end: () => void } {
  return createRoot((end) => ({ value: polled(ask, options), end }));
}

beforeEach(() => {
  questions = [];
  page.visibilityState = 'visible';
  setState('live');
  vi.useFakeTimers();
  vi.stubGlobal('document', page);
});
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

describe('what is fetched now and then', () => {
  it('is not overwritten by a question from before an act', async () => {
    const { value, end } = made();
    void value.refresh();
    value.set('stored');
    expect(questions.every((one) => one.aborted())).toBe(true);
    for (const one of questions) one.answer('old');
    await settle();
    expect(value.data()).toBe('stored');
    expect(value.busy()).toBe(false);
    end();
  });

  it('takes the answer to the newest question', async () => {
    const { value, end } = made();
    void value.refresh();
    questions[1]?.answer('new');
    questions[0]?.answer('old');
    await settle();
    expect(value.data()).toBe('new');
    end();
  });

  it('keeps what is shown when it cannot be fetched anew, and says so', async () => {
    const { value, end } = made();
    questions[0]?.answer('first');
    await settle();
    void value.refresh();
    questions[1]?.fail(new Error('no'));
    await settle();
    expect(value.data()).toBe('first');
    expect(value.problem()?.message).toBe('no');
    end();
  });

  it('forgets the problem of another key', async () => {
    const [key, setKey] = createSignal('a');
    const { value, end } = made({ key });
    questions[0]?.fail(new Error('no'));
    await settle();
    setKey('b');
    expect(value.problem()).toBeNull();
    expect(value.data()).toBeUndefined();
    end();
  });

  it('asks at once when somebody looks again, not an interval later', async () => {
    const { end } = made({ every: 60_000 });
    questions[0]?.answer('first');
    await settle();
    page.visibilityState = 'hidden';
    await vi.advanceTimersByTimeAsync(200_000);
    expect(questions).toHaveLength(1);
    page.visibilityState = 'visible';
    look?.();
    expect(questions).toHaveLength(2);
    end();
    expect(look).toBeUndefined();
  });

  it('goes on without live events as long as requests are answered', async () => {
    setState('asking');
    const { end } = made({ every: 10_000 });
    questions[0]?.answer('first');
    await settle();
    await vi.advanceTimersByTimeAsync(10_000);
    expect(questions).toHaveLength(2);
    questions[1]?.answer('second');
    await settle();
    setState('offline');
    await vi.advanceTimersByTimeAsync(60_000);
    expect(questions).toHaveLength(2);
    setState('asking');
    await settle();
    expect(questions).toHaveLength(3);
    end();
  });
});
