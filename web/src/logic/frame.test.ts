import { expect, it } from 'vitest';
import { Redraw } from './frame';

it('draws each thing once, a few in each frame', () => {
  const frames: (() => void)[] = [];
  const drawn: number[] = [];
  const redraw = new Redraw(2, (run) => frames.push(run));
  const draws = [1, 2, 3].map((number) => () => void drawn.push(number));
  for (const draw of [...draws, ...draws]) redraw.add(draw);
  expect(frames).toHaveLength(1);
  frames.shift()?.();
  expect(drawn).toEqual([1, 2]);
  frames.shift()?.();
  expect(drawn).toEqual([1, 2, 3]);
  expect(frames).toHaveLength(0);
  redraw.add(draws[0] as () => void);
  frames.shift()?.();
  expect(drawn).toEqual([1, 2, 3, 1]);
});

it('goes on with what is asked for while it draws', () => {
  const frames: (() => void)[] = [];
  let drawn = 0;
  const redraw = new Redraw(2, (run) => frames.push(run));
  const draw = () => {
    drawn += 1;
    if (drawn < 3) redraw.add(draw);
  };
  redraw.add(draw);
  for (let at = 0; at < 10 && frames.length > 0; at += 1) frames.shift()?.();
  expect(drawn).toBe(3);
});
