// What a sweep proposes, compared with the fleet. Pure.

export interface Operation {
  op: 'create';
  addon: string;
  device: string;
  device_spec?: { address?: string; port?: number; labels?: Record<string, string> } & Record<string, unknown>;
  spec?: Record<string, unknown>;
}

export interface ProposedDevice {
  name: string;
  address: string;
  labels: Record<string, string>;
  known: boolean;
  operations: { operation: Operation; key: string; exists: boolean }[];
}

/** A proposal by device, compared with what is there. */
export function byDevice(operations: readonly Operation[], has: { device: (name: string) => boolean; target: (key: string) => boolean }): ProposedDevice[] {
  const devices = new Map<string, ProposedDevice>();
  for (const operation of operations) {
    let device = devices.get(operation.device);
    if (device === undefined) {
      device = { name: operation.device, address: '', labels: {}, known: has.device(operation.device), operations: [] };
      devices.set(operation.device, device);
    }
    if (operation.device_spec?.address !== undefined) device.address = operation.device_spec.address;
    Object.assign(device.labels, operation.device_spec?.labels);
    const key = `${operation.addon}::${operation.device}`;
    device.operations.push({ operation, key, exists: has.target(key) });
  }
  return [...devices.values()];
}

/** The chosen operations, in order; the first one of a new device carries its address. */
export function chosenOperations(devices: readonly ProposedDevice[], chosen: ReadonlySet<string>): Operation[] {
  const out: Operation[] = [];
  for (const device of devices) {
    const spec = device.operations.find((one) => one.operation.device_spec !== undefined)?.operation.device_spec;
    let carried = device.known;
    for (const one of device.operations) {
      if (!chosen.has(one.key) || one.exists) continue;
      const { device_spec: _, ...rest } = one.operation;
      out.push(carried || spec === undefined ? rest : { ...rest, device_spec: spec });
      carried = true;
    }
  }
  return out;
}
