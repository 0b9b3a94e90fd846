// What a text finds in the fleet: devices, then targets; those whose name begins with it first. Pure.

export interface Searched {
  key: string;
  device: string;
  address: string;
}

export interface FleetHits<T> {
  devices: { name: string; targets: number }[];
  targets: T[];
}

const kMostDevices = 4;

export function searchFleet<T extends Searched>(all: Iterable<T>, text: string, most: number): FleetHits<T> {
  const wanted = text.trim().toLowerCase();
  if (wanted === '') return { devices: [], targets: [] };
  const near = new Map<string, number>();
  const far = new Map<string, number>();
  const first: T[] = [];
  const later: T[] = [];
  for (const target of all) {
    const device = target.device.toLowerCase();
    const begins = device.startsWith(wanted);
    if (begins && first.length < most) first.push(target);
    else if (!begins && later.length < most && `${target.key} ${target.address}`.toLowerCase().includes(wanted)) later.push(target);
    const devices = begins ? near : device.includes(wanted) || target.address.toLowerCase().includes(wanted) ? far : null;
    devices?.set(target.device, (devices.get(target.device) ?? 0) + 1);
  }
  const found = [...near, ...[...far].filter(([name]) => !near.has(name))];
  // The one that is called exactly so is meant, wherever it stands.
  found.sort((a, b) => Number(b[0].toLowerCase() === wanted) - Number(a[0].toLowerCase() === wanted));
  return { devices: found.slice(0, kMostDevices).map(([name, targets]) => ({ name, targets })), targets: [...first, ...later].slice(0, most) };
}
