import { createRoot, createSignal } from 'solid-js';
import { describe, expect, it, vi } from 'vitest';

const toastProblem = vi.fn();
vi.mock('../../design/Toast', () => ({ toastProblem }));
const { joinPages, pages } = await import('./pages');
type Numbers = { items: readonly number[]; next?: string };

const same = (row: number) => row;

describe('joinPages', () => {
  it('keeps what slid off the newest page', () => {
    expect(joinPages({ items: [12, 11, 10], next: 'c' }, [10, 9, 8, 7, 6], same)).toEqual([12, 11, 10, 9, 8, 7, 6]);
  });
  it('forgets what the newest page does not have any more', () => {
    expect(joinPages({ items: [12, 10], next: 'c' }, [12, 11, 10, 9], same)).toEqual([12, 10, 9]);
    expect(joinPages({ items: [12] }, [12, 11], same)).toEqual([12]);
  });
});

describe('pages', () => {
  it('leaves no gap when records come between two pages', async () => {
    await createRoot(async (end) => {
      const [newest, setNewest] = createSignal<Numbers | undefined>({ items: [9, 8, 7], next: '7' });
      const list = pages<number>({ newest, ask: () => Promise.resolve({ items: [6, 5, 4], next: '4' }), number: same, failed: '' });
      await list.more();
      setNewest({ items: [11, 10, 9], next: '9' });
      expect(list.rows()).toEqual([11, 10, 9, 8, 7, 6, 5, 4]);
      expect(list.next()).toBe('4');
      list.reset();
      expect(list.rows()).toEqual([11, 10, 9]);
      end();
    });
  });
  it('throws away older pages of another list', async () => {
    await createRoot(async (end) => {
      const [newest, setNewest] = createSignal<Numbers | undefined>({ items: [9, 8], next: '8' });
      let answer: (page: Numbers) => void = () => undefined;
      const list = pages<number>({ newest, ask: () => new Promise((done) => (answer = done)), number: same, failed: '' });
      const asked = list.more();
      expect(list.busy()).toBe(true);
      list.reset();
      setNewest({ items: [5], next: '5' });
      answer({ items: [7, 6], next: '6' });
      await asked;
      expect(list.rows()).toEqual([5]);
      expect(list.next()).toBe('5');
      expect(list.busy()).toBe(false);
      end();
    });
  });
});
