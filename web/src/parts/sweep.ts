// A sweep as people fill it in, and the body of POST /api/targets/discover. Pure.

export interface Sweep {
  network: string;
  methods: ReadonlySet<string>;
  credentials: string;
  rate: number | null;
  ports: Record<string, number | null>;
}

/** How many addresses a network has; null while it cannot be read. */
export function addressCount(network: string): number | null {
  const parts = /^([0-9a-f.:]+)\/(\d{1,3})$/i.exec(network.trim());
  if (parts === null) return null;
  const [, address = '', length = ''] = parts;
  const bits = address.includes(':') ? 128 : 32;
  if (bits === 32 && !/^(\d{1,3}\.){3}\d{1,3}$/.test(address)) return null;
  const rest = bits - Number(length);
  if (rest < 0) return null;
  // The addresses of the network itself and of everybody are not asked.
  if (bits === 32 && rest >= 2) return 2 ** rest - 2;
  return 2 ** rest;
}

export function sweepBody(sweep: Sweep, all: readonly string[]): Record<string, unknown> {
  const body: Record<string, unknown> = { network: sweep.network.trim() };
  const methods = all.filter((name) => sweep.methods.has(name));
  if (methods.length < all.length) body['methods'] = methods;
  const credentials = sweep.credentials.split(/[\s,]+/).filter((name) => name !== '');
  if (credentials.length > 0) body['credentials'] = credentials;
  if (sweep.rate !== null) body['rate'] = sweep.rate;
  for (const [name, port] of Object.entries(sweep.ports)) if (port !== null && sweep.methods.has(name)) body[`${name}_port`] = port;
  return body;
}
