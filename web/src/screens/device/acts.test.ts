import { describe, expect, it, vi } from 'vitest';

const bulk = vi.fn();
vi.mock('../../parts/bulk_acts', () => ({ bulk }));

const { pauseAll, paused, resumeAll, running } = await import('./acts');
const target = (key: string, ...enabled: boolean[]) => ({ key, tasks: enabled.map((one) => ({ enabled: one })) });
const kTargets = [target('a::on', true), target('a::off', false), target('a::half', true, false), target('a::listens')];

describe('all targets of a device', () => {
  it('are paused where they run and resumed where they are paused', () => {
    expect(running(kTargets)).toEqual(['a::on', 'a::half']);
    expect(paused(kTargets)).toEqual(['a::off', 'a::half']);
  });
  it('are paused with a reason, resumed with or without one', () => {
    void pauseAll('core-1', kTargets);
    void resumeAll('core-1', kTargets.slice(0, 2));
    expect(bulk.mock.calls).toEqual([
      [expect.objectContaining({ op: 'disable', of: ' of core-1', question: expect.objectContaining({ title: 'Pause all of core-1?', reason: 'required' }) }), ['a::on', 'a::half']],
      [expect.objectContaining({ op: 'enable', question: expect.objectContaining({ text: '1 target of it is polled again, and raises alerts again.', reason: 'optional' }) }), ['a::off']],
    ]);
  });
});
