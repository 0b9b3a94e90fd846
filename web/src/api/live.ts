// The WebSocket of live events: one for the page. It connects, subscribes, resumes after a break
// from the last number it saw, and says honestly since when it has heard nothing. Where no WebSocket
// comes through but requests do, everything is asked for now and then instead.
import { createSignal } from 'solid-js';
import { learnServerTime, serverNow } from '../logic/clock';
import { nextFrame } from '../logic/frame';
import { apiUrl, whenAnswered } from './client';
import type { PollResultData, SystemStatusData } from './model';

export interface LiveEvent<Data = unknown> {
  type: string;
  seq: number;
  at: string;
  key?: string;
  data: Data;
}

export interface Connection {
  /**
   * `live`: values move by themselves. `asking`: no live events, but the server answers, and all is asked for every
   * `kAskEvery`. Everything else: what is shown may be old.
   */
  state: 'connecting' | 'live' | 'reconnecting' | 'asking' | 'offline';
  /** Server time of the last word we heard, in ms. */
  heard: number | null;
  /** When the next attempt comes, in ms of our own clock. */
  retryAt: number | null;
}

export const kEventTypes = [
  'task_state_changed', 'poll_result', 'scheduler_stats', 'system_status', 'addon_status', 'job_changed',
  'alert_created', 'alert_updated', 'alert_resolved', 'incident_changed',
] as const;
export type EventType = (typeof kEventTypes)[number];

type Handler = (events: LiveEvent[]) => void;

/** By addon: name, when (ms), duration (ms), next poll after that (ms, 0: none), lag (ms); the rest only if something is wrong. */
export type PollDigest = Record<string, [string, number, number, number, number, PollResultData['outcome']?, number?, string?][]>;

/** A message of many results as the events it stands for. */
export function resultsOf({ seq, data }: { seq: number; data: PollDigest }): LiveEvent<PollResultData>[] {
  return Object.entries(data).flatMap(([addon, rows]) =>
    rows.map(([name, at, duration, next, lag, outcome = 'ok', failures = 0, code]) => ({
      type: 'poll_result', seq, at: new Date(at).toISOString(), key: `${addon}::${name}`,
      data: {
        outcome, at: new Date(at).toISOString(), duration: duration / 1000, lag: lag / 1000, failures,
        ...(code ? { code } : {}), ...(next > 0 ? { next_due: new Date(at + next).toISOString() } : {}),
      },
    })),
  );
}

const kPingEvery = 15_000;
const kSilentAfter = 25_000;
const kLongestWait = 30_000;
// So many attempts that failed are no hiccup any more.
const kHiccups = 4;
/** Without live events: so often is everything asked for, ms. */
export const kAskEvery = 15_000;
// Work on events inside one frame; what is left comes in the next.
const kFrameBudget = 12;
const kChunk = 200;

export class LiveFeed {
  readonly connection: () => Connection;
  readonly system: () => SystemStatusData | null;
  readonly #setConnection: (value: Connection) => void;
  readonly #setSystem: (value: SystemStatusData) => void;
  readonly #handlers = new Map<string, Set<Handler>>();
  readonly #resync = new Set<() => void>();
  readonly #open: (url: string) => WebSocket;
  #socket: WebSocket | null = null;
  #queue: LiveEvent[] = [];
  #flushing = false;
  #seq = 0;
  #attempt = 0;
  #wanted = false;
  #heard = 0;
  // Whether requests were answered since live events were lost; null: none has ended yet.
  #answered: boolean | null = null;
  #asked = 0;
  #timers: { retry?: ReturnType<typeof setTimeout>; watch?: ReturnType<typeof setInterval> } = {};

  constructor(open: (url: string) => WebSocket = (url) => new WebSocket(url)) {
    this.#open = open;
    const [connection, setConnection] = createSignal<Connection>({ state: 'connecting', heard: null, retryAt: null });
    const [system, setSystem] = createSignal<SystemStatusData | null>(null);
    this.connection = connection;
    this.system = system;
    this.#setConnection = setConnection;
    this.#setSystem = setSystem;
  }

  /** Events of these types, in order, many at once (per frame). Returns how to stop. */
  on<Data = unknown>(types: readonly EventType[], handler: (events: LiveEvent<Data>[]) => void): () => void {
    const kept = handler as Handler;
    for (const type of types) {
      if (!this.#handlers.has(type)) this.#handlers.set(type, new Set());
      this.#handlers.get(type)?.add(kept);
    }
    return () => types.forEach((type) => this.#handlers.get(type)?.delete(kept));
  }

  /** Events were missed: fetch the state anew. Returns how to stop. */
  onResync(handler: () => void): () => void {
    this.#resync.add(handler);
    return () => this.#resync.delete(handler);
  }

  /** A snapshot that was taken at this number; a first connection resumes from it. */
  noteSnapshot(seq: number): void {
    if (this.#socket === null && seq > this.#seq) this.#seq = seq;
  }

  /** A request was answered, or could not be. */
  noteAnswer(reached: boolean): void {
    if (this.#socket !== null && this.connection().state === 'live') return;
    this.#answered = reached;
    this.#settle();
  }

  get lastSeq(): number {
    return this.#seq;
  }

  start(): void {
    if (this.#wanted) return;
    this.#wanted = true;
    this.#connect();
    this.#timers.watch = setInterval(() => this.#watch(), 5000);
    globalThis.addEventListener?.('online', this.#hurry);
    globalThis.document?.addEventListener('visibilitychange', this.#hurry);
  }

  stop(): void {
    this.#wanted = false;
    clearTimeout(this.#timers.retry);
    clearInterval(this.#timers.watch);
    globalThis.removeEventListener?.('online', this.#hurry);
    globalThis.document?.removeEventListener('visibilitychange', this.#hurry);
    this.#drop();
    this.#seq = 0;
    this.#queue = [];
    this.#attempt = 0;
    this.#answered = null;
    this.#setConnection({ state: 'connecting', heard: null, retryAt: null });
  }

  /** Tries at once instead of waiting for the next attempt. */
  retryNow(): void {
    if (this.#wanted && this.#socket === null) {
      clearTimeout(this.#timers.retry);
      this.#connect();
    }
  }

  #hurry = (): void => {
    if (globalThis.document?.visibilityState !== 'hidden') this.retryNow();
  };

  #connect(): void {
    const url = apiUrl('ws').replace(/^http/, 'ws');
    this.#heard = Date.now();
    let socket: WebSocket;
    try {
      socket = this.#open(url);
    } catch {
      this.#later();
      return;
    }
    this.#socket = socket;
    socket.onopen = () => {
      // First what was missed, then what follows: so nothing is missed and nothing comes twice.
      if (this.#seq > 0) this.#say({ type: 'resume', seq: this.#seq });
      // Results of polls once a second, together: thousands of targets stay a trickle.
      this.#say({ type: 'subscribe', event_types: kEventTypes, gather: true });
    };
    socket.onmessage = (message) => {
      if (this.#socket === socket) this.#take(String(message.data));
    };
    socket.onclose = () => {
      if (this.#socket !== socket) return;
      this.#socket = null;
      if (this.#wanted) this.#later();
    };
  }

  #say(message: unknown): void {
    if (this.#socket?.readyState === 1) this.#socket.send(JSON.stringify(message));
  }

  #take(text: string): void {
    let event: LiveEvent & { status?: SystemStatusData; detail?: string };
    try {
      event = JSON.parse(text) as typeof event;
    } catch {
      return;
    }
    this.#heard = Date.now();
    switch (event.type) {
      case 'connected':
        if (event.status) this.#setSystem(event.status);
        return;
      case 'subscribed':
        this.#attempt = 0;
        // After a break, what was missed is still to come: only a first connection begins here.
        if (this.#seq === 0) this.#seq = event.seq;
        this.#live();
        return;
      case 'resync':
        this.#seq = event.seq;
        this.#queue = [];
        for (const handler of this.#resync) guarded(handler);
        return;
      case 'resumed':
      case 'unsubscribed':
        return;
      case 'pong':
        this.#live();
        return;
      case 'error':
        console.warn('live events:', event.detail);
        return;
    }
    if (event.seq > this.#seq) this.#seq = event.seq;
    if (event.type === 'system_status') this.#setSystem(event.data as SystemStatusData);
    if (event.type === 'scheduler_stats') learnServerTime(Date.parse(event.at));
    this.#live();
    if (event.type === 'poll_results') this.#queue.push(...resultsOf(event as LiveEvent<PollDigest>));
    else this.#queue.push(event);
    this.#flushSoon();
  }

  #live(): void {
    const now = this.connection();
    const heard = serverNow();
    // Not more often than each second: it is looked at, not counted.
    if (now.state === 'live' && now.heard !== null && heard - now.heard < 1000) return;
    this.#setConnection({ state: 'live', heard, retryAt: null });
  }

  #flushSoon(): void {
    if (this.#flushing) return;
    this.#flushing = true;
    nextFrame(() => this.#flush());
  }

  #flush(): void {
    this.#flushing = false;
    const begin = performance.now();
    while (this.#queue.length > 0 && performance.now() - begin < kFrameBudget) {
      this.#hand(this.#queue.splice(0, kChunk));
    }
    if (this.#queue.length > 0) this.#flushSoon();
  }

  #hand(events: LiveEvent[]): void {
    const lots = new Map<Handler, LiveEvent[]>();
    for (const event of events) {
      for (const handler of this.#handlers.get(event.type) ?? []) {
        const lot = lots.get(handler);
        if (lot) lot.push(event);
        else lots.set(handler, [event]);
      }
    }
    for (const [handler, lot] of lots) guarded(() => handler(lot));
  }

  #watch(): void {
    this.#ask();
    if (this.#socket === null) return;
    const silent = Date.now() - this.#heard;
    if (silent > kSilentAfter) {
      this.#drop();
      this.#later();
    } else if (silent > kPingEvery - 5000) {
      this.#say({ type: 'ping' });
    }
  }

  #drop(): void {
    const socket = this.#socket;
    this.#socket = null;
    if (socket === null) return;
    socket.onclose = socket.onmessage = socket.onopen = null;
    socket.close();
  }

  #later(): void {
    const most = Math.min(kLongestWait, 500 * 2 ** this.#attempt);
    const wait = most / 2 + (Math.random() * most) / 2;
    this.#attempt = Math.min(this.#attempt + 1, 10);
    const before = this.connection();
    // What was answered before the loss tells nothing of now.
    if (before.state === 'live') this.#answered = null;
    this.#setConnection({ state: this.#lost(), heard: before.heard, retryAt: Date.now() + wait });
    clearTimeout(this.#timers.retry);
    this.#timers.retry = setTimeout(() => this.#connect(), wait);
    this.#ask();
  }

  #lost(): Connection['state'] {
    if (this.#attempt <= kHiccups) return 'reconnecting';
    return this.#answered === true ? 'asking' : 'offline';
  }

  #settle(): void {
    const now = this.connection();
    if (now.state !== 'asking' && now.state !== 'offline') return;
    if (now.state !== this.#lost()) this.#setConnection({ ...now, state: this.#lost() });
    this.#ask();
  }

  /** Nobody tells what happened: whoever shows something fetches it anew. */
  #ask(): void {
    if (this.connection().state !== 'asking' || Date.now() - this.#asked < kAskEvery) return;
    if (globalThis.document?.visibilityState === 'hidden') return;
    this.#asked = Date.now();
    for (const handler of this.#resync) guarded(handler);
  }
}

/** A mistake of one listener keeps nothing from the others. */
function guarded(run: () => void): void {
  try {
    run();
  } catch (error) {
    console.error('live events:', error);
  }
}

export const live = new LiveFeed();
whenAnswered((reached) => live.noteAnswer(reached));
