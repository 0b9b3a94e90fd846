import { describe, expect, it } from 'vitest';
import { href, matchPath, parsePlace } from './router';

describe('routing by hash', () => {
  it('takes a place apart', () => {
    expect(parsePlace('')).toEqual({ path: '/', query: {} });
    expect(parsePlace('#/fleet?filter=state%3Adown&group=addon')).toEqual({ path: '/fleet', query: { filter: 'state:down', group: 'addon' } });
  });
  it('matches paths with keys in them', () => {
    expect(matchPath('/', '/')).toEqual({});
    expect(matchPath('/', '/fleet')).toBeNull();
    expect(matchPath('/targets/:key', '/targets/pve%3A%3Aa%2Fb')).toEqual({ key: 'pve::a/b' });
    expect(matchPath('/targets/:key', '/targets')).toBeNull();
    expect(matchPath('/targets/:key', '/targets/')).toBeNull();
    expect(matchPath('/targets/:key', '/targets/%E0%A4%A')).toBeNull();
    expect(matchPath('/fleet', '/fleet/')).toEqual({});
  });
  it('makes links that come back the same', () => {
    const link = href('/targets/:key', { key: 'http json::web/1?#' }, { tab: 'runs', empty: '' });
    const place = parsePlace(link);
    expect(matchPath('/targets/:key', place.path)).toEqual({ key: 'http json::web/1?#' });
    expect(place.query).toEqual({ tab: 'runs' });
  });
});
