import { beforeEach, describe, expect, it, vi } from 'vitest';

const confirm = vi.fn();
const toast = vi.fn();
const toastProblem = vi.fn();
const post = vi.fn();
vi.mock('../design', () => ({ confirm, toast, toastProblem }));
vi.mock('../state/fleet', () => ({ fleet: { refresh: vi.fn() } }));
vi.mock('../api/client', () => ({ api: { post } }));

const { bulk } = await import('./bulk_acts');
const kPause = { op: 'disable', question: { title: 'Pause all?', text: '', action: 'Pause all', reason: 'required' }, done: 'paused', of: ' of core-1' } as const;
const answering = (...results: string[]) => post.mockImplementation((_: string, body: { operations: { key: string }[] }) =>
  Promise.resolve({ results: body.operations.map(({ key }, at) => ({ key, op: 'disable', result: results[at % results.length], detail: 'the disk is full' })) }));

beforeEach(() => vi.resetAllMocks());

describe('an act on many targets', () => {
  it('is asked for once, with a reason for all of its parts', async () => {
    confirm.mockResolvedValue({ reason: 'new rack' });
    answering('done');
    expect(await bulk(kPause, Array.from({ length: 1500 }, (_, at) => `a::${at}`))).toBe(true);
    expect(confirm).toHaveBeenCalledTimes(1);
    expect(post.mock.calls.map(([path, body]) => [path, body.operations.length, body.operations[0].op, body.reason])).toEqual([
      ['api/targets/bulk', 1000, 'disable', 'new rack'], ['api/targets/bulk', 500, 'disable', 'new rack'],
    ]);
    expect(toast.mock.calls).toEqual([['ok', '1,500 targets of core-1 paused', undefined]]);
  });
  it('is not done when nobody wants it after all', async () => {
    confirm.mockResolvedValue(null);
    expect(await bulk(kPause, ['a::b'])).toBe(false);
    expect(post).not.toHaveBeenCalled();
  });
  it('tells what was done, what was so already, and what failed', async () => {
    confirm.mockResolvedValue({ reason: 'x' });
    answering('done', 'unchanged', 'failed');
    await bulk(kPause, ['a::1', 'a::2', 'a::3']);
    expect(toast.mock.calls).toEqual([
      ['ok', '1 target of core-1 paused', '1 target already was'],
      ['bad', '1 target of core-1 could not be paused', 'a::3: the disk is full'],
    ]);
  });
  it('needs no question, and says why it could not be asked for', async () => {
    post.mockRejectedValue(new Error('offline'));
    expect(await bulk({ op: 'poll', done: 'polled now' }, ['a::1', 'a::2'])).toBe(false);
    expect(post.mock.calls[0]?.[1]).toEqual({ operations: [{ op: 'poll', key: 'a::1' }, { op: 'poll', key: 'a::2' }] });
    expect(toastProblem).toHaveBeenCalledWith(expect.any(Error), '2 targets could not be polled now');
  });
});
