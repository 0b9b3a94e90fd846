// How long something takes when nothing disturbs it: processor time in ms, the best of several times.
// On a busy machine the time of the wall would mean nothing.
export function quickest(act: () => void, times = 7): number {
  let best = Infinity;
  for (let turn = 0; turn < times; turn += 1) {
    const begin = process.cpuUsage();
    act();
    const used = process.cpuUsage(begin);
    best = Math.min(best, (used.user + used.system) / 1000);
  }
  return best;
}
