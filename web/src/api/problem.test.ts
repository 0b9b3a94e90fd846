import { describe, expect, it } from 'vitest';
import { Problem } from './problem';

const problem = new Problem({
  status: 422,
  code: 'x',
  detail: 'wrong',
  errors: [{ pointer: '/match/0', detail: 'no operator' }, { pointer: '/matching', detail: 'unknown key' }, { pointer: '/until', detail: 'in the past' }, { detail: 'all of it' }],
});

describe('a problem', () => {
  it('tells what is wrong with a field, also deep inside of it', () => {
    expect(problem.inside('match')).toBe('no operator');
    expect(problem.inside('until')).toBe('in the past');
    expect(problem.inside('mat')).toBeUndefined();
  });
  it('leaves to the head of a form what no field shows', () => {
    const shown = problem.pointersInside(['match', 'until']);
    expect(shown).toEqual(['/match/0', '/until']);
    expect(problem.others(shown).map((one) => one.detail)).toEqual(['unknown key', 'all of it']);
  });
});
