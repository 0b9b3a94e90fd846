import { describe, expect, it } from 'vitest';
import { anyOf, fileText, nowText, sortChanges } from './topology';
import type { ParentsChange } from './topology';

const change = (device: string, standing: ParentsChange['standing'], origin?: ParentsChange['origin']): ParentsChange => ({
  device, parents: ['core'], by: ['lldp'], current: [], standing, ...(origin === undefined ? {} : { origin }), text: `devices:\n  ${device}:\n    parents:\n      - core\n`,
});

describe('a topology', () => {
  it('is parted by what can be done with it', () => {
    const sorted = sortChanges([change('a', 'new', 'api'), change('b', 'changed', 'file'), change('c', 'by_hand', 'api'), change('d', 'same', 'api'), change('e', 'gone'), change('f', 'new', 'discovery')]);
    expect(sorted.ours.map((one) => one.device)).toEqual(['a']);
    expect(sorted.owned.map((one) => one.device)).toEqual(['b', 'f']);
    expect(sorted.byHand.map((one) => one.device)).toEqual(['c']);
    expect(sorted.done).toBe(2);
  });
  it('is one piece of a fleet file', () => {
    expect(fileText([change('a', 'new'), change('b', 'new')])).toBe('devices:\n  a:\n    parents:\n      - core\n  b:\n    parents:\n      - core\n');
    expect(fileText([])).toBe('');
  });
  it('has words for alternatives', () => {
    expect(anyOf(['a', 'b'])).toBe('a or b');
    expect(nowText([['gw'], ['a', 'b']])).toBe('gw and a or b');
  });
});
