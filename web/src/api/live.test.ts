import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { LiveFeed } from './live';
import type { LiveEvent } from './live';

class FakeSocket {
  readyState = 1;
  sent: { type: string; seq?: number }[] = [];
  onopen: (() => void) | null = null;
  onmessage: ((message: { data: string }) => void) | null = null;
  onclose: (() => void) | null = null;
  closed = false;
  send(text: string): void {
    this.sent.push(JSON.parse(text) as { type: string });
  }
  close(): void {
    this.closed = true;
  }
  tell(message: unknown): void {
    this.onmessage?.({ data: JSON.stringify(message) });
  }
}

const sockets: FakeSocket[] = [];
const urls: string[] = [];
const last = () => sockets[sockets.length - 1] as FakeSocket;

function feed(): LiveFeed {
  return new LiveFeed((url) => {
    urls.push(url);
    sockets.push(new FakeSocket());
    return last() as unknown as WebSocket;
  });
}

beforeEach(() => {
  vi.useFakeTimers();
  vi.stubGlobal('document', { baseURI: 'https://host.example/pollux/#/fleet', visibilityState: 'hidden', addEventListener() {}, removeEventListener() {} });
  sockets.length = urls.length = 0;
});
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

describe('the live feed', () => {
  it('connects beside the page, also behind a path', () => {
    feed().start();
    expect(urls).toEqual(['wss://host.example/pollux/ws']);
  });

  it('resumes from the snapshot before it subscribes', () => {
    const live = feed();
    live.noteSnapshot(41);
    live.start();
    last().onopen?.();
    expect(last().sent.map((one) => one.type)).toEqual(['resume', 'subscribe']);
    expect(last().sent[0]?.seq).toBe(41);
  });

  it('hands events to who wants their type, in order and together', () => {
    const live = feed();
    const got: LiveEvent[][] = [];
    const stop = live.on(['poll_result'], (events) => got.push(events));
    live.start();
    last().onopen?.();
    last().tell({ type: 'subscribed', seq: 1 });
    last().tell({ type: 'poll_result', seq: 2, at: '', key: 'a', data: {} });
    last().tell({ type: 'scheduler_stats', seq: 3, at: '2026-01-01T00:00:00Z', data: {} });
    last().tell({ type: 'poll_result', seq: 4, at: '', key: 'b', data: {} });
    expect(got).toEqual([]);
    vi.advanceTimersByTime(150);
    expect(got.map((lot) => lot.map((event) => event.key))).toEqual([['a', 'b']]);
    stop();
    last().tell({ type: 'poll_result', seq: 5, at: '', key: 'c', data: {} });
    vi.advanceTimersByTime(150);
    expect(got).toHaveLength(1);
    expect(live.connection().state).toBe('live');
  });

  it('keeps nothing from the others when one listener fails', () => {
    const said = vi.spyOn(console, 'error').mockImplementation(() => undefined);
    const live = feed();
    const got: LiveEvent[] = [];
    live.on(['poll_result'], () => {
      throw new Error('a mistake');
    });
    live.on(['poll_result'], (events) => got.push(...events));
    live.start();
    last().onopen?.();
    last().tell({ type: 'subscribed', seq: 1 });
    last().tell({ type: 'poll_result', seq: 2, at: '', key: 'a', data: {} });
    vi.advanceTimersByTime(150);
    expect(got.map((event) => event.key)).toEqual(['a']);
    expect(said).toHaveBeenCalledOnce();
    said.mockRestore();
  });

  it('takes results together and hands them out one by one', () => {
    const live = feed();
    const got: LiveEvent[] = [];
    live.on(['poll_result'], (events) => got.push(...events));
    live.start();
    last().onopen?.();
    expect(last().sent.at(-1)).toMatchObject({ type: 'subscribe', gather: true });
    last().tell({ type: 'subscribed', seq: 1 });
    last().tell({ type: 'poll_results', seq: 8, data: { ping: [['a', 1_700_000_000_000, 12, 60_000, 0], ['b#slow', 1_700_000_000_000, 5000, 0, 1500, 'transient', 2, 'icmp.timeout']] } });
    vi.advanceTimersByTime(150);
    expect(got).toEqual([
      { type: 'poll_result', seq: 8, at: '2023-11-14T22:13:20.000Z', key: 'ping::a', data: { outcome: 'ok', at: '2023-11-14T22:13:20.000Z', duration: 0.012, lag: 0, failures: 0, next_due: '2023-11-14T22:14:20.000Z' } },
      { type: 'poll_result', seq: 8, at: '2023-11-14T22:13:20.000Z', key: 'ping::b#slow', data: { outcome: 'transient', at: '2023-11-14T22:13:20.000Z', duration: 5, lag: 1.5, failures: 2, code: 'icmp.timeout' } },
    ]);
    expect(live.lastSeq).toBe(8);
  });

  it('reconnects by itself, says so, and resumes from the last number', () => {
    const live = feed();
    live.start();
    last().onopen?.();
    last().tell({ type: 'subscribed', seq: 7 });
    last().tell({ type: 'poll_result', seq: 9, at: '', key: 'a', data: {} });
    last().onclose?.();
    expect(live.connection().state).toBe('reconnecting');
    expect(live.connection().heard).not.toBeNull();
    vi.advanceTimersByTime(1000);
    expect(sockets).toHaveLength(2);
    last().onopen?.();
    expect(last().sent[0]).toEqual({ type: 'resume', seq: 9 });
    // It breaks again before what was missed has come: that is still asked for.
    last().tell({ type: 'subscribed', seq: 50 });
    last().onclose?.();
    vi.advanceTimersByTime(2000);
    last().onopen?.();
    expect(last().sent[0]).toEqual({ type: 'resume', seq: 9 });
  });

  it('waits longer each time, never more than half a minute', () => {
    const live = feed();
    live.start();
    for (let attempt = 0; attempt < 12; attempt += 1) {
      last().onclose?.();
      const wait = (live.connection().retryAt ?? 0) - Date.now();
      expect(wait).toBeGreaterThan(0);
      expect(wait).toBeLessThanOrEqual(30_000);
      vi.advanceTimersByTime(wait + 1);
    }
    expect(live.connection().state).toBe('offline');
    expect(sockets).toHaveLength(13);
  });

  it('asks for everything now and then where requests are answered but no WebSocket comes through', () => {
    (document as { visibilityState: string }).visibilityState = 'visible';
    const live = feed();
    const resync = vi.fn();
    live.onResync(resync);
    live.start();
    const fail = () => {
      last().onclose?.();
      const at = live.connection().retryAt ?? 0;
      vi.advanceTimersByTime(at - Date.now() + 1);
    };
    for (let attempt = 0; attempt < 3; attempt += 1) fail();
    live.noteAnswer(true);
    expect(live.connection().state).toBe('reconnecting');
    expect(resync).not.toHaveBeenCalled();
    fail();
    last().onclose?.();
    expect(live.connection().state).toBe('asking');
    expect(resync).toHaveBeenCalledOnce();
    vi.advanceTimersByTime(60_000);
    expect(resync.mock.calls.length).toBeGreaterThanOrEqual(4);
    expect(resync.mock.calls.length).toBeLessThanOrEqual(5);
    // Requests fail too: that is a lost server, and nothing is asked for any more.
    live.noteAnswer(false);
    expect(live.connection().state).toBe('offline');
    resync.mockClear();
    vi.advanceTimersByTime(60_000);
    expect(resync).not.toHaveBeenCalled();
    live.noteAnswer(true);
    expect(live.connection().state).toBe('asking');
    expect(resync).toHaveBeenCalledOnce();
    live.stop();
  });

  it('does not take an answer from before the loss for one of now', () => {
    const live = feed();
    live.start();
    live.noteAnswer(true);
    last().onopen?.();
    last().tell({ type: 'subscribed', seq: 1 });
    live.noteAnswer(true);
    for (let attempt = 0; attempt < 6; attempt += 1) {
      last().onclose?.();
      vi.advanceTimersByTime((live.connection().retryAt ?? 0) - Date.now() + 1);
    }
    expect(live.connection().state).toBe('offline');
    live.stop();
  });

  it('gives up a connection that says nothing', () => {
    const live = feed();
    live.start();
    last().onopen?.();
    last().tell({ type: 'subscribed', seq: 1 });
    vi.advanceTimersByTime(16_000);
    expect(last().sent.some((one) => one.type === 'ping')).toBe(true);
    vi.advanceTimersByTime(15_000);
    expect(sockets[0]?.closed).toBe(true);
    expect(live.connection().state).not.toBe('live');
  });

  it('asks for the state anew when events were missed, and forgets what it held', () => {
    const live = feed();
    const resync = vi.fn();
    const got = vi.fn();
    live.onResync(resync);
    live.on(['poll_result'], got);
    live.start();
    last().onopen?.();
    last().tell({ type: 'poll_result', seq: 5, at: '', key: 'a', data: {} });
    last().tell({ type: 'resync', seq: 90 });
    vi.advanceTimersByTime(150);
    expect(resync).toHaveBeenCalledOnce();
    expect(got).not.toHaveBeenCalled();
    expect(live.lastSeq).toBe(90);
  });
});
