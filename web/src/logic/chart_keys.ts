// What the keys do on a chart: they move along its samples, and its window in time. Pure, for its test.

/** Seconds, from and to. */
export type Range = readonly [number, number];

export interface ChartView {
  /** Seconds, rising. */
  times: readonly number[];
  /** Whether anything can be read at a place. */
  has: (place: number) => boolean;
  /** Seconds that are read now; null if nothing is. */
  at: number | null;
  /** What is shown; null for all. */
  zoom: Range | null;
}

export type ChartStep = Pick<ChartView, 'at' | 'zoom'>;

// A window holds at least so many samples.
const kFewest = 4;
const kPage = 10;
const kMove = 0.25;

/** What is read and shown after a key; null if the key is not for a chart, or changes nothing. */
export function chartKey(key: string, shift: boolean, view: ChartView): ChartStep | null {
  const first = view.times[0];
  const last = view.times[view.times.length - 1];
  if (first === undefined || last === undefined) return null;
  const whole: Range = [first, last];
  const still: ChartStep = { at: view.at, zoom: view.zoom };
  switch (key) {
    case 'Escape':
      return view.at === null && view.zoom === null ? null : { at: null, zoom: null };
    case '+':
    case '=':
      return { ...still, zoom: scaled(view, whole, 0.5) };
    case '-':
    case '_':
      return { ...still, zoom: scaled(view, whole, 2) };
    case 'ArrowUp':
    case 'ArrowDown':
      return shift ? { ...still, zoom: scaled(view, whole, key === 'ArrowUp' ? 0.5 : 2) } : null;
    case 'ArrowLeft':
    case 'ArrowRight': {
      const sign = key === 'ArrowLeft' ? -1 : 1;
      return shift ? { ...still, zoom: moved(view.zoom, whole, sign * kMove) } : read(view, whole, sign);
    }
    case 'PageUp':
      return read(view, whole, -kPage);
    case 'PageDown':
      return read(view, whole, kPage);
    case 'Home':
      return edge(view, whole, 1);
    case 'End':
      return edge(view, whole, -1);
    default:
      return null;
  }
}

/** The sample nearest to a time. */
export function placeOf(times: readonly number[], at: number): number {
  let low = 0;
  let high = times.length - 1;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if ((times[middle] as number) <= at) low = middle;
    else high = middle;
  }
  return Math.abs((times[high] as number) - at) < Math.abs(at - (times[low] as number)) ? high : low;
}

/** So many samples on; the first key reads the newest one that is shown. */
function read(view: ChartView, whole: Range, by: number): ChartStep {
  if (view.at === null) return edge(view, whole, -1);
  let place = placeOf(view.times, view.at);
  for (let left = Math.abs(by); left > 0; left -= 1) place = next(view, place, Math.sign(by));
  const at = view.times[place] as number;
  return { at, zoom: followed(view.zoom, whole, at) };
}

/** The first (1) or the last (-1) sample of what is shown. */
function edge(view: ChartView, whole: Range, sign: 1 | -1): ChartStep {
  const [from, to] = view.zoom ?? whole;
  let place = placeOf(view.times, sign > 0 ? from : to);
  const outside = () => (view.times[place] as number) < from || (view.times[place] as number) > to;
  if (outside() || !view.has(place)) place = next(view, place, sign);
  return { at: view.times[place] as number, zoom: view.zoom };
}

/** The next place where there is something to read; where there is none, one stays. */
function next(view: ChartView, from: number, sign: number): number {
  for (let place = from + sign; place >= 0 && place < view.times.length; place += sign) if (view.has(place)) return place;
  return from;
}

/** Around what is read, else around the middle; null when all is shown. */
function scaled(view: ChartView, whole: Range, factor: number): Range | null {
  const [from, to] = view.zoom ?? whole;
  const least = ((whole[1] - whole[0]) / Math.max(1, view.times.length - 1)) * kFewest;
  const span = Math.max(least, (to - from) * factor);
  if (span >= whole[1] - whole[0]) return null;
  const middle = view.at !== null && view.at >= from && view.at <= to ? view.at : (from + to) / 2;
  const share = (middle - from) / (to - from);
  return within([middle - span * share, middle + span * (1 - share)], whole);
}

function moved(zoom: Range | null, whole: Range, share: number): Range | null {
  if (zoom === null) return null;
  const by = (zoom[1] - zoom[0]) * share;
  return within([zoom[0] + by, zoom[1] + by], whole);
}

function followed(zoom: Range | null, whole: Range, at: number): Range | null {
  if (zoom === null || (at >= zoom[0] && at <= zoom[1])) return zoom;
  const by = at < zoom[0] ? at - zoom[0] : at - zoom[1];
  return within([zoom[0] + by, zoom[1] + by], whole);
}

function within([from, to]: Range, whole: Range): Range {
  const back = Math.max(0, to - whole[1]) - Math.max(0, whole[0] - from);
  return [from - back, to - back];
}
