import { describe, expect, it, vi } from 'vitest';

vi.mock('../../design', () => ({ confirm: vi.fn(), toast: vi.fn(), toastProblem: vi.fn() }));
vi.mock('../../state/fleet', () => ({ fleet: { refresh: vi.fn() } }));
vi.mock('../../state/session', () => ({ may: () => true }));

const { matchersFor } = await import('./acts');

describe('matchersFor', () => {
  it('names one target', () => expect(matchersFor(['a::b'])).toEqual(['target="a::b"']));
  it('escapes what expressions and quotes would take for something else', () => {
    expect(matchersFor(['a::b.c', 'a::d'])).toEqual(['target=~"a::b\\\\.c|a::d"']);
    expect(matchersFor(['a::"x"'])).toEqual(['target="a::\\"x\\""']);
  });
});
