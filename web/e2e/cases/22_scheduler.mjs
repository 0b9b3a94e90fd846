// What the scheduler screen shows is what the server says: each number is compared with the answer that it was made of.
import assert from 'node:assert/strict';
import { kAdmin, until } from '../world.mjs';

/** The last answer of each path that the page asked for. */
function listen(page) {
  const answers = new Map();
  page.on('response', (response) => {
    const { pathname } = new URL(response.url());
    if (!pathname.startsWith('/api/') || !response.ok()) return;
    void response.json().then((answer) => answers.set(pathname.slice(1), answer)).catch(() => undefined);
  });
  return answers;
}

const kUnits = { 'µs': 1e-6, ms: 1e-3, s: 1, min: 60, h: 3600, d: 86_400, '/s': 1, 'k/s': 1e3, '%': 0.01, B: 1, KiB: 1024, MiB: 1024 ** 2, GiB: 1024 ** 3, '': 1 };

/** "4.2 ms", "1 min 35 s", "1.5 KiB", "12.5 %", "3.2/s" or "1,234" as one number. */
function number(text) {
  const parts = [...text.matchAll(/([\d.,]+) ?(µs|ms|min|s|h|d|k\/s|\/s|%|[KMG]iB|B|)(?![a-zA-Z])/g)];
  assert.ok(parts.length > 0, `${text} is a number`);
  return parts.reduce((sum, [, digits, unit]) => sum + Number(digits.replaceAll(',', '')) * kUnits[unit], 0);
}

/** As near as two or three digits tell. */
function near(shown, real, what) {
  const value = number(shown);
  assert.ok(Math.abs(value - real) <= Math.max(0.06 * Math.abs(real), 1e-6), `${what} is shown as ${shown} and is ${real}`);
}

/** Waits until a check against answers passes: what is shown and what was answered last move together. */
const agree = (what, check) => until(`${what} to agree with the API`, async () => (await check(), true));

/** Of starts counted in buckets, as if each were filled evenly. */
function quantile({ lag_bounds: bounds, lag_counts: rows }, share, last = rows.length) {
  const counts = Array.from({ length: bounds.length + 1 }, (_, bucket) => rows.slice(-last).reduce((sum, row) => sum + row[bucket], 0));
  let left = share * counts.reduce((sum, one) => sum + one, 0);
  for (const [bucket, one] of counts.entries()) {
    if (one > 0 && left <= one) return bucket === bounds.length ? bounds.at(-1) : (bounds[bucket - 1] ?? 0) + ((bounds[bucket] - (bounds[bucket - 1] ?? 0)) * left) / one;
    left -= one;
  }
  return null;
}

export default [
  {
    name: 'how late starts are is told as the server counts it',
    run: async (visit) => {
      const page = await visit.as(kAdmin, '#/fleet');
      const answers = listen(page);
      await visit.go('#/scheduler', 'Scheduler');
      const tile = page.locator('.scheduler-tile', { hasText: 'Start lag, p95' }).locator('.scheduler-tile-value');
      await agree('the tile', async () => {
        const history = answers.get('api/scheduler/history');
        near(await tile.textContent(), quantile(history, 0.95, Math.max(1, Math.round(60 / history.step))), 'p95 of the last minute');
      });
      const heat = page.getByRole('group', { name: /^Start lag over time/ });
      await agree('the heat map', async () => {
        const history = answers.get('api/scheduler/history');
        const [, half, most, late] = /p50 (.*), p95 (.*), later than 2 s: (.*)$/.exec(await heat.getAttribute('aria-label'));
        near(half, quantile(history, 0.5), 'p50');
        near(most, quantile(history, 0.95), 'p95');
        const counts = history.lag_counts.flatMap((row) => row.map((value, bucket) => [value, (history.lag_bounds[bucket - 1] ?? 0) >= 2]));
        const all = counts.reduce((sum, [value]) => sum + value, 0);
        assert.ok(Math.abs(number(late) - counts.reduce((sum, [value, is]) => sum + (is ? value : 0), 0) / all) < 1e-4, `${late} start later`);
      });
      // A cell that is read by keyboard is one of the newest column.
      await heat.getByRole('img').focus();
      await page.keyboard.press('ArrowLeft');
      await agree('a cell', async () => {
        const { lag_counts: counts, lag_bounds: bounds } = answers.get('api/scheduler/history');
        const [, here, sum] = /: ([\d,]+) of ([\d,]+) starts were up to/.exec(await heat.locator('[aria-live]').textContent());
        assert.equal(bounds.length + 1, counts[0].length);
        assert.ok(counts.slice(-3).some((row) => row[0] === number(here) && row.reduce((all, one) => all + one, 0) === number(sum)), `${here} of ${sum}`);
      });
    },
  },
  {
    name: 'policies and costs are those that the server reckons',
    run: async (visit) => {
      const page = await visit.as(kAdmin, '#/fleet');
      const answers = listen(page);
      await visit.go('#/scheduler?tab=policies', 'Scheduler');
      const table = page.locator('.scheduler-compare');
      await agree('the comparison', async () => {
        const { items, in_force: inForce } = answers.get('api/scheduler/policies');
        const heads = await table.getByRole('columnheader').allTextContents();
        assert.deepEqual(heads.slice(1).map((text) => text.split(' ')[0]), items.map((one) => one.policy));
        assert.deepEqual(heads.filter((text) => text.includes('in force')).map((text) => text.split(' ')[0]), [inForce]);
        const rows = { 'Polls per second': 'polls_per_second', 'Mean interval': 'mean_interval', 'Longest interval': 'longest_interval', 'Mean age of the data': 'mean_age' };
        for (const [title, field] of Object.entries(rows)) {
          const cells = await table.getByRole('row', { name: new RegExp(`^${title}`) }).locator('td strong').allTextContents();
          assert.equal(cells.length, items.length);
          items.forEach((one, place) => near(cells[place], one[field], `${title} of ${one.policy}`));
        }
      });
      const cells = async (grid, place) => grid.locator('.table-row').nth(place).locator('.table-cell').allTextContents();
      const classes = page.getByRole('grid', { name: 'Policies by class' });
      await agree('the classes', async () => {
        const { items } = answers.get('api/scheduler/policies');
        for (const [place, known] of items[0].classes.entries()) {
          const [name, tasks, ...policies] = await cells(classes, place);
          assert.deepEqual([name, number(tasks)], [known.class, known.tasks]);
          policies.forEach((text, at) => {
            const one = items[at].classes.find((other) => other.class === name);
            const [rate, interval] = text.split(', ');
            near(rate, one.polls_per_second, `${name} by ${items[at].policy}`);
            near(interval, one.mean_interval, `${name} by ${items[at].policy}`);
          });
        }
      });
      const costs = page.getByRole('grid', { name: 'Who takes the time' });
      await agree('the costs', async () => {
        const items = [...answers.get('api/scheduler/costs').items].sort((one, two) => two.busy - one.busy);
        assert.ok(items.length > 5);
        for (const [place, known] of items.slice(0, 5).entries()) {
          const [task, share, busy, mean, runs, failures, requests, bytes] = await cells(costs, place);
          assert.deepEqual([task, number(runs), number(failures), number(requests)], [known.key, known.runs, known.failures, known.requests]);
          assert.ok(Math.abs(number(share) - known.share) <= 0.0006, `${share} is ${known.share}`);
          near(busy, known.busy, 'busy');
          near(mean, known.mean, 'mean');
          near(bytes, known.bytes, 'traffic');
        }
      });
    },
  },
  {
    name: 'the last batches are those that the scheduler started',
    run: async (visit) => {
      const page = await visit.as(kAdmin, '#/fleet');
      const answers = listen(page);
      await visit.go('#/scheduler?tab=plan', 'Scheduler');
      const summary = page.getByText(/^Last batches: \d/);
      await summary.click();
      const grid = page.getByRole('grid', { name: 'Last batches' });
      await agree('the batches', async () => {
        const { batches } = answers.get('api/scheduler/ready');
        const starts = batches.map((one) => one.starts);
        const [, many, all, most] = /: ([\d,]+) with ([\d,]+) starts?, at most ([\d,]+) at once$/.exec(await summary.textContent());
        assert.deepEqual([number(many), number(all), number(most)], [batches.length, starts.reduce((sum, one) => sum + one, 0), Math.max(...starts)]);
        const shown = await grid.locator('.table-row').evaluateAll((rows) => rows.slice(0, 5).map((row) => [...row.querySelectorAll('.table-cell')].slice(1, 4).map((cell) => Number(cell.textContent))));
        assert.deepEqual(shown, batches.slice(0, 5).map((one) => [one.ready, one.starts, one.in_flight]));
      });
    },
  },
];
