import { beforeEach, describe, expect, it, vi } from 'vitest';
import type { Permission } from '../../api/model';

const confirm = vi.fn<(question: { title: string; reason?: string }) => Promise<{ reason: string } | null>>();
const post = vi.fn<(path: string, body: Record<string, unknown>) => Promise<unknown>>();
let allowed: Permission[] = [];
vi.mock('../../design', () => ({ confirm, toast: vi.fn(), toastProblem: vi.fn() }));
vi.mock('../../api/client', async (original) => ({ ...(await original<typeof import('../../api/client')>()), api: { post } }));
vi.mock('../../state/session', () => ({ whyNot: (wanted: Permission) => (allowed.includes(wanted) ? undefined : `needs ${wanted}`) }));

const { failureEntries } = await import('./failure_entries');
const { resetBreakers } = await import('../../parts/failure_acts');

const kTasks = [
  { key: 'snmp-system::a', breaker: 'open', dead_letter: 'max_retry_attempts' },
  { key: 'snmp-system::a#slow', breaker: 'half_open', dead_letter: 'none' },
  { key: 'snmp-system::a#quick', breaker: 'closed', dead_letter: 'none' },
] as const;

/** Chooses the entry and waits for what it does. */
async function choose(place: number): Promise<boolean | undefined> {
  let done: Promise<boolean> | undefined;
  const entry = failureEntries(kTasks, 'snmp-system::a', (act) => (done = act()))[place];
  (entry as { run: () => void }).run();
  return done;
}

beforeEach(() => {
  vi.resetAllMocks();
  allowed = ['manage'];
  post.mockResolvedValue({});
});

describe('what the menu of a target offers against failures', () => {
  it('has an entry for each part that fails, and says that it asks', () => {
    expect(failureEntries(kTasks, 'snmp-system::a', () => undefined).map((one) => 'label' in one && one.label)).toEqual([
      'Reset the breaker…', 'Reset the breaker of snmp-system::a#slow…', 'Retry the dead letter…',
    ]);
  });
  it('is for those who manage, as the API wants it', () => {
    allowed = ['operate'];
    for (const one of failureEntries(kTasks, 'snmp-system::a', () => undefined)) expect(one).toMatchObject({ disabledReason: 'needs manage' });
    allowed = ['manage'];
    for (const one of failureEntries(kTasks, 'snmp-system::a', () => undefined)) expect(one).toMatchObject({ disabledReason: undefined });
  });
  it('passes the reason on', async () => {
    confirm.mockResolvedValue({ reason: 'the link is back' });
    expect(await choose(0)).toBe(true);
    expect(await choose(2)).toBe(true);
    expect(post.mock.calls).toEqual([
      ['api/monitoring/breakers/snmp-system%3A%3Aa/reset', { reason: 'the link is back' }],
      ['api/monitoring/dlq/snmp-system%3A%3Aa/retry', { reason: 'the link is back' }],
    ]);
    expect(confirm.mock.calls.every(([question]) => question.reason === 'optional')).toBe(true);
  });
  it('does nothing when nobody wants it after all', async () => {
    confirm.mockResolvedValue(null);
    expect(await choose(1)).toBe(false);
    expect(post).not.toHaveBeenCalled();
  });
  it('asks for many in parts that fit into a request', async () => {
    confirm.mockResolvedValue({ reason: '' });
    post.mockResolvedValue({ breakersReset: 150 });
    expect(await resetBreakers({ keys: Array.from({ length: 300 }, (_, place) => `a::${place}`) })).toBe(300);
    expect(post.mock.calls.map(([, body]) => (body['keys'] as string[]).length)).toEqual([200, 100]);
  });
});
