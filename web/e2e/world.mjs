// The world of the end-to-end cases: a simulated fleet, the real server, and what stands around them, all
// on free loopback ports with data in a temporary folder, all ended by their own process ids.
import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer as createHttpServer } from 'node:http';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { startFront } from './front.mjs';

const program = resolve(process.env.POLLUX_BIN ?? '../build/release/bin/pollux');
export const kAdmin = { name: 'admin', password: 'correct horse battery' };
export const kPatience = 60_000 * Number(process.env.POLLUX_E2E_PATIENCE ?? 1);

export function freePort() {
  return new Promise((done, failed) => {
    const probe = createServer();
    probe.once('error', failed);
    probe.listen(0, '127.0.0.1', () => {
      const { port } = probe.address();
      probe.close(() => done(port));
    });
  });
}

export const pause = (milliseconds) => new Promise((done) => setTimeout(done, milliseconds));

/** Waits until `test` gives something; says what it waited for if it never comes. An error that is `final` ends it at once. */
export async function until(what, test, patience = kPatience) {
  const end = Date.now() + patience;
  let last;
  while (Date.now() < end) {
    try {
      const found = await test();
      if (found) return found;
    } catch (error) {
      if (error.final) throw error;
      last = error;
    }
    await pause(250);
  }
  throw new Error(`waited ${patience / 1000} s for ${what}${last ? `: ${last.message}` : ''}`);
}

function startProgram(command, args, options = {}) {
  const child = spawn(command, args.map(String), { stdio: ['ignore', 'pipe', 'pipe'], ...options });
  const run = { child, text: '', ended: new Promise((done) => child.once('exit', done)) };
  child.once('error', (error) => (run.text += String(error)));
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (run.text = (run.text + chunk).slice(-200_000)));
  return run;
}

async function end(run, signal = 'SIGTERM') {
  if (run === null || run.child.exitCode !== null || run.child.signalCode !== null) return;
  run.child.kill(signal);
  const late = setTimeout(() => run.child.kill('SIGKILL'), 20_000);
  await run.ended;
  clearTimeout(late);
}

/** As a browser sends them back. Debian's Node has no getSetCookie(): several cookies are one text with commas. */
const cookiesOf = (headers) => (headers.get('set-cookie') ?? '').split(/, *(?=[^\s;,=]+=)/).map((one) => one.split(';')[0]).join('; ');

export class World {
  folder = mkdtempSync(join(tmpdir(), 'pollux-e2e-'));
  // `leftOut`: a device of the fleet that the server is not told of. `beside`: another world, whose simulated
  // devices are there for this one too; the server is then told of none of them. `environment`: of the server.
  // `timeout`: how long a device that says nothing is waited for.
  options = { snmp: 8, http: 4, profile: 'calm', interval: '3s', timeout: '10s', leftOut: 'sw-00008', beside: null, environment: {} };
  fleet = null;
  server = null;
  nginx = null;
  front = null;
  others = [];

  constructor(options = {}) {
    Object.assign(this.options, options);
  }

  async start() {
    if (this.options.beside === null) await this.#startFleet();
    else this.ports = this.options.beside.ports;
    this.apiPort = await freePort();
    this.direct = `http://127.0.0.1:${this.apiPort}`;
    this.url = this.direct;
    await this.startServer();
    // For a server without a dashboard of its own, or to try a newer one: the folder that vite wrote.
    if (process.env.POLLUX_WEB) {
      this.front = await startFront(resolve(process.env.POLLUX_WEB), this.apiPort);
      this.url = this.front.url;
    }
    const page = await (await fetch(`${this.url}/`)).text();
    if (!page.includes('id="app"')) throw new Error(`${program} has no dashboard in it: build it with web/, or set POLLUX_WEB to the folder that npm run build wrote`);
  }

  async #startFleet() {
    this.ports = { snmp: await freePort(), http: await freePort(), https: await freePort(), control: await freePort() };
    const file = join(this.folder, 'lab.yaml');
    const { snmp, http, profile, interval, timeout, leftOut } = this.options;
    const last = http > 0 ? `web-${String(http).padStart(5, '0')}` : `sw-${String(snmp).padStart(5, '0')}`;
    this.fleet = startProgram(program, [
      'fleet', '--snmp', snmp, '--http', http, '--profile', profile, '--quiet', '--port-snmp', this.ports.snmp, '--port-http', this.ports.http,
      '--port-https', this.ports.https, '--control', this.ports.control, '--write-fleet', file,
    ]);
    await until('the simulated fleet', async () => this.#alive(this.fleet) && (await fetch(`http://127.0.0.1:${this.ports.control}/status`)).ok && readFileSync(file, 'utf8').includes(`  ${last}:`));
    const text = readFileSync(file, 'utf8').replace(new RegExp(`^ {2}${leftOut}:\\n(?: {4}.*\\n)*`, 'm'), '');
    const pace = ['snmp-system', 'snmp-interfaces', 'http-json', 'http-status'].map((addon) => `  ${addon}: {interval: ${interval}, timeout: ${timeout}}\n`).join('');
    writeFileSync(file, `${text}\naddons:\n${pace}resources: {cpu: 2}\n`);
    this.fleetFile = file;
  }

  async startServer() {
    const fleet = this.fleetFile === undefined ? [] : ['--fleet', this.fleetFile];
    this.server = startProgram(program, ['serve', '--data', join(this.folder, 'data'), ...fleet], {
      env: { ...process.env, ...this.options.environment, POLLUX_API_LISTEN: `127.0.0.1:${this.apiPort}`, POLLUX_METRICS_PORT: '0' },
    });
    await until('the server', async () => this.#alive(this.server) && (await fetch(`${this.direct}/api/live`)).ok);
    // The first start prints it a moment after the first answer; those that follow have an admin.
    this.bootstrapToken ??= await until('the one-time token', async () => /plxboot_[\w-]+/.exec(this.server.text)?.[0]);
  }

  #alive({ child, text }) {
    if (child.exitCode !== null) throw Object.assign(new Error(`it ended with ${child.exitCode}:\n${text.slice(-2000)}`), { final: true });
    return true;
  }

  /** As by a power cut. */
  async killServer() {
    await end(this.server, 'SIGKILL');
  }

  /** POST /devices/{name}/fault of the simulated fleet. */
  async break(device, kind) {
    const answer = await fetch(`http://127.0.0.1:${this.ports.control}/devices/${device}/fault`, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify({ kind }) });
    if (!answer.ok) throw new Error(`fault ${kind} of ${device}: ${answer.status} ${await answer.text()}`);
  }

  async mend(device) {
    await fetch(`http://127.0.0.1:${this.ports.control}/devices/${device}/fault`, { method: 'DELETE' });
  }

  /** An admin over the API: api('POST', 'api/users', {…}). The first one is made if there is none yet. */
  async api(method, path, body, headers = {}) {
    if (this.session === undefined) await this.#logIn();
    const answer = await fetch(`${this.direct}/${path}`, {
      method,
      headers: { 'Content-Type': 'application/json', Cookie: this.session.cookie, 'X-CSRF-Token': this.session.csrf, ...headers },
      body: body === undefined ? undefined : JSON.stringify(body),
    });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${text}`);
    return text === '' ? null : (answer.headers.get('Content-Type') ?? '').includes('json') ? JSON.parse(text) : text;
  }

  /** Settings, whatever version they have now. */
  async set(changes) {
    const { version } = await this.api('GET', 'api/settings');
    await this.api('PUT', 'api/settings', changes, { 'If-Match': `"v${version}"` });
  }

  /** Targets over the API; those that are there already stay. Each: { addon, device, device_spec, spec }. */
  async add(...targets) {
    const known = new Set((await this.api('GET', 'api/fleet')).columns.key);
    const operations = targets.filter(({ addon, device }) => !known.has(`${addon}::${device}`)).map((one) => ({ op: 'create', ...one }));
    if (operations.length === 0) return;
    const { results } = await this.api('POST', 'api/targets/bulk', { operations });
    const failed = results.find((one) => one.result === 'failed');
    if (failed) throw new Error(`${failed.key}: ${failed.detail}`);
  }

  /** The target as a row of the fleet: { state, last_success_ms, … }. */
  async row(key) {
    const { columns } = await this.api('GET', 'api/fleet');
    const at = columns.key.indexOf(key);
    return at < 0 ? null : Object.fromEntries(Object.entries(columns).map(([name, values]) => [name, values[at]]));
  }

  /** A user with one role, for everything; the same one each time. */
  async ensureUser(user, role) {
    await this.api('POST', 'api/users', { ...user, grants: [{ role }] }).catch((error) => {
      if (!/: 409 /.test(error.message)) throw error;
    });
  }

  async #logIn() {
    const post = (path, body) => fetch(`${this.direct}/${path}`, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body) });
    let answer = await post('api/login', kAdmin);
    if (answer.status === 401) {
      const made = await post('api/bootstrap', { token: this.bootstrapToken, ...kAdmin });
      if (!made.ok) throw new Error(`bootstrap: ${made.status} ${await made.text()}`);
      answer = await post('api/login', kAdmin);
    }
    if (!answer.ok) throw new Error(`login: ${answer.status} ${await answer.text()}`);
    this.session = { cookie: cookiesOf(answer.headers), csrf: (await answer.json()).csrf_token };
  }

  /** The login of somebody as a browser keeps it: one for all cases, because logins are limited to ten in a minute. */
  async storageOf(user, browser) {
    this.storages ??= new Map();
    if (!this.storages.has(user.name)) {
      const context = await browser.newContext();
      const answer = await context.request.post(`${this.url}/api/login`, { data: user });
      if (!answer.ok()) throw new Error(`login of ${user.name}: ${answer.status()} ${await answer.text()}`);
      this.storages.set(user.name, await context.storageState());
      await context.close();
    }
    return this.storages.get(user.name);
  }

  async ensureAdmin() {
    if (this.session === undefined) await this.#logIn();
  }

  /** A real nginx with the server below a path; gives the address of the dashboard behind it. */
  async startNginx(prefix) {
    const port = await freePort();
    const folder = join(this.folder, 'nginx');
    mkdirSync(folder, { recursive: true });
    const target = this.front ? new URL(this.front.url).port : this.apiPort;
    const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((name) => `${name}_temp_path ${folder}/${name};`).join('\n');
    writeFileSync(join(folder, 'nginx.conf'), `
daemon off; worker_processes 1; pid ${folder}/pid; error_log ${folder}/error.log warn;
events { worker_connections 64; }
http {
  access_log off;
  ${temporary}
  map $http_upgrade $connection_upgrade { default upgrade; '' close; }
  server {
    listen 127.0.0.1:${port};
    location ${prefix} {
      rewrite ^ $request_uri;
      rewrite ^${prefix.slice(0, -1)}(/.*) $1 break;
      return 400;
      proxy_pass http://127.0.0.1:${target}$uri;
      proxy_http_version 1.1;
      proxy_set_header Host $http_host;
      proxy_set_header Upgrade $http_upgrade;
      proxy_set_header Connection $connection_upgrade;
      proxy_read_timeout 120s;
    }
  }
}
`);
    this.nginx = startProgram(process.env.NGINX ?? 'nginx', ['-p', folder, '-c', join(folder, 'nginx.conf'), '-e', join(folder, 'error.log')]);
    const url = `http://127.0.0.1:${port}${prefix}`;
    await until('nginx', async () => this.#alive(this.nginx) && (await fetch(`${url}api/live`)).ok);
    return url;
  }

  /** A device that answers with what we like, as `answer(request, body)` says: an HTTP server on loopback. Null: it hangs up. */
  async startDevice(answer) {
    const server = createHttpServer((request, response) => {
      let body = '';
      request.setEncoding('utf8').on('data', (part) => (body += part));
      request.on('end', () => {
        const said = answer(request, body);
        if (said === null) {
          request.socket.destroy();
          return;
        }
        response.writeHead(said.status ?? 200, { 'Content-Type': said.type ?? 'application/json' });
        response.end(said.body);
      });
    });
    await new Promise((done) => server.listen(0, '127.0.0.1', done));
    this.others.push(server);
    return server.address().port;
  }

  async remove() {
    for (const server of this.others) server.close();
    this.front?.close();
    for (const run of [this.nginx, this.server, this.fleet]) await end(run);
    if (process.env.POLLUX_E2E_KEEP) console.log(`kept: ${this.folder}`);
    else rmSync(this.folder, { recursive: true, force: true });
  }
}
