import { describe, expect, it } from 'vitest';
import { kNodeHeight, kNodeWidth, layoutGraph, neighbour } from './graph_layout';
import type { LayoutNode } from './graph_layout';

const node = (id: string, level: number, ...parents: string[]): LayoutNode => ({ id, level, parents });

function overlaps(nodes: readonly { x: number; y: number }[]): boolean {
  return nodes.some((a, at) => nodes.slice(at + 1).some((b) => Math.abs(a.x - b.x) < kNodeWidth && Math.abs(a.y - b.y) < kNodeHeight));
}

describe('the drawing of a batch', () => {
  const batch = [node('a', 0), node('b', 0), node('drain', 1, 'a', 'b'), node('backup', 2, 'a', 'drain'), node('late', 3, 'b')];
  it('puts levels from left to right and jobs never on each other', () => {
    const layout = layoutGraph(batch);
    const x = (id: string) => layout.nodes.find((one) => one.id === id)?.x ?? -1;
    expect(x('a')).toBe(x('b'));
    expect(x('a')).toBeLessThan(x('drain'));
    expect(x('drain')).toBeLessThan(x('backup'));
    expect(overlaps(layout.nodes)).toBe(false);
    expect(layout.edges.map((edge) => `${edge.from}>${edge.to}`).sort()).toEqual(['a>backup', 'a>drain', 'b>drain', 'b>late', 'drain>backup']);
    expect(Math.min(...layout.nodes.map((one) => one.y))).toBeLessThan(2 * kNodeHeight);
    for (const one of layout.nodes) {
      expect(one.y).toBeGreaterThanOrEqual(0);
      expect(one.y + kNodeHeight).toBeLessThanOrEqual(layout.height);
      expect(one.x + kNodeWidth).toBeLessThanOrEqual(layout.width);
    }
  });
  it('uncrosses what can be uncrossed', () => {
    const layout = layoutGraph([node('a', 0), node('b', 0), node('of-b', 1, 'b'), node('of-a', 1, 'a')]);
    const y = (id: string) => layout.nodes.find((one) => one.id === id)?.y ?? -1;
    expect(Math.sign(y('a') - y('b'))).toBe(Math.sign(y('of-a') - y('of-b')));
  });
  it('holds for wide and deep batches, parents elsewhere and nothing at all', () => {
    expect(layoutGraph([])).toMatchObject({ nodes: [], edges: [] });
    expect(layoutGraph([node('a', 0, 'elsewhere')]).edges).toEqual([]);
    const many = Array.from({ length: 300 }, (_, at) => node(`n${at}`, Math.floor(at / 30), ...(at < 30 ? [] : [`n${at - 30}`, `n${(at * 7) % 30}`])));
    const layout = layoutGraph(many);
    expect(layout.nodes).toHaveLength(300);
    expect(overlaps(layout.nodes)).toBe(false);
  }, 60_000);
  it('leads the arrow keys along lines and columns', () => {
    const layout = layoutGraph(batch);
    expect(neighbour(layout, 'drain', 'ArrowRight')).toBe('backup');
    expect(['a', 'b']).toContain(neighbour(layout, 'drain', 'ArrowLeft'));
    expect([neighbour(layout, 'a', 'ArrowDown'), neighbour(layout, 'a', 'ArrowUp')]).toContain('b');
    expect(neighbour(layout, 'a', 'ArrowLeft')).toBeNull();
    expect(neighbour(layout, 'nobody', 'ArrowLeft')).toBeNull();
  });
});
