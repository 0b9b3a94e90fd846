// Speed of the dashboard, in Chromium against the real server with a simulated fleet on this machine.
//   POLLUX_BIN=… node e2e/bench.mjs [--targets 5000] [--clients 50] [--rounds 5]
// Each figure stands beside its goal; ends with 1 if one is missed.
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { launch } from './browser.mjs';
import { Visit } from './visit.mjs';
import { kAdmin, pause, until, World } from './world.mjs';

const args = process.argv.slice(2);
const option = (name, other) => {
  const at = args.indexOf(`--${name}`);
  return at < 0 ? other : Number(args.splice(at, 2)[1]);
};
const targets = option('targets', 5000);
const clients = option('clients', 50);
const rounds = option('rounds', 5);
if (args.length > 0 || ![targets, clients, rounds].every((count) => count >= 1)) {
  console.error('usage: bench web [--targets 5000] [--clients 50] [--rounds 5]');
  process.exit(2);
}

let missed = 0;
function tell(what, value, unit, goal) {
  const ok = value <= goal;
  if (!ok) missed += 1;
  console.log(`${what.padEnd(62)} ${value.toFixed(value < 10 ? 2 : 0).padStart(8)} ${unit.padEnd(10)} goal ≤ ${goal} ${unit}: ${(value / goal).toFixed(2)}x ${ok ? 'ok' : 'MISSED'}`);
}
const median = (values) => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)];

/** Passes bytes on, both ways, and counts them: what crosses the wire, headers and frames included. */
async function startCounter(port) {
  const sockets = new Set();
  const counter = { bytes: 0 };
  const server = createServer((socket) => {
    const up = connect(port, '127.0.0.1');
    for (const [from, to] of [[socket, up], [up, socket]]) {
      sockets.add(from);
      from.on('data', (chunk) => {
        counter.bytes += chunk.length;
        to.write(chunk);
      });
      from.on('close', () => to.destroy());
      from.on('error', () => to.destroy());
    }
  });
  await new Promise((done) => server.listen(0, '127.0.0.1', done));
  counter.url = `http://127.0.0.1:${server.address().port}`;
  counter.close = () => {
    server.close();
    for (const socket of sockets) socket.destroy();
  };
  return counter;
}

/** In the page: when the first thing that `selector` names was painted, and every long task. */
function watchPaint(selector) {
  globalThis.watched = { paint: null, tasks: [] };
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) globalThis.watched.tasks.push(Math.round(entry.duration));
  }).observe({ type: 'longtask', buffered: true });
  const look = () => {
    if (globalThis.watched.paint !== null) return;
    if (document.querySelector(selector)) {
      // The frame after the one that has it.
      requestAnimationFrame(() => setTimeout(() => (globalThis.watched.paint ??= performance.now())));
    } else {
      requestAnimationFrame(look);
    }
  };
  requestAnimationFrame(look);
}

async function firstPaint(visit, browser, state, hash, selector) {
  const times = [];
  let bytes = 0;
  for (let round = 0; round < rounds; round += 1) {
    const context = await browser.newContext({ viewport: { width: 1360, height: 860 }, storageState: state });
    await context.addInitScript(watchPaint, selector);
    const page = await context.newPage();
    const session = await context.newCDPSession(page);
    await session.send('Network.enable');
    bytes = 0;
    let loading = true;
    const own = new Set();
    session.on('Network.responseReceived', ({ requestId, response }) => {
      if (!new URL(response.url).pathname.startsWith('/api/')) own.add(requestId);
    });
    session.on('Network.loadingFinished', ({ requestId, encodedDataLength }) => {
      if (loading && own.has(requestId)) bytes += encodedDataLength;
    });
    await page.goto(`${visit.world.url}/${hash}`);
    times.push(await until('the first paint', () => page.evaluate(() => globalThis.watched.paint)));
    loading = false;
    await context.close();
  }
  return { time: median(times), bytes };
}

/** Adds up bytes by what they are for. */
class Causes {
  #bytes = new Map();

  add(cause, bytes) {
    this.#bytes.set(cause, (this.#bytes.get(cause) ?? 0) + bytes);
  }

  /** Per second, the largest first: "GET /api/fleet 0.91, ws poll_results 0.80 kB/s". */
  over(seconds) {
    const sorted = [...this.#bytes].sort((a, b) => b[1] - a[1]).slice(0, 6);
    return `${sorted.map(([cause, bytes]) => `${cause} ${(bytes / seconds / 1000).toFixed(2)}`).join(', ')} kB/s`;
  }
}

/** Where the bytes of a page come from: requests as they cross the wire; messages as they are before they are compressed. */
function watchCauses(session) {
  const causes = new Causes();
  const paths = new Map();
  session.on('Network.requestWillBeSent', ({ requestId, request }) => {
    const { pathname, search } = new URL(request.url);
    paths.set(requestId, `${request.method} ${pathname}${search.replace(/=[^&]*/g, '=…').replace(/(&[^&]*)\1+/g, '$1')}`);
  });
  session.on('Network.loadingFinished', ({ requestId, encodedDataLength }) => causes.add(paths.get(requestId) ?? 'another request', encodedDataLength));
  session.on('Network.webSocketFrameReceived', ({ response }) => causes.add(`ws ${/"type":"(\w+)"/.exec(response.payloadData)?.[1] ?? '?'} unpacked`, response.payloadData.length));
  return causes;
}

/** What an open page that nobody touches sends and gets, per second; also what it asks for and subscribes to. */
async function idle(browser, state, world, hash, seconds) {
  const counter = await startCounter(world.apiPort);
  const context = await browser.newContext({ viewport: { width: 1360, height: 860 }, storageState: state });
  try {
    const page = await context.newPage();
    const session = await context.newCDPSession(page);
    await session.send('Network.enable');
    const sent = [];
    session.on('Network.webSocketFrameSent', ({ response }) => sent.push(response.payloadData));
    await page.goto(`${counter.url}/${hash}`);
    await page.getByText('Live', { exact: true }).waitFor();
    await pause(5000);
    const asked = [];
    page.on('request', (request) => asked.push(new URL(request.url()).pathname + new URL(request.url()).search));
    const causes = watchCauses(session);
    const before = counter.bytes;
    await pause(seconds * 1000);
    return { rate: (counter.bytes - before) / seconds, causes: causes.over(seconds), asked: asked.filter((path) => path.startsWith('/api/')), sent: sent.slice(0, 2) };
  } finally {
    await context.close();
    counter.close();
  }
}

const cpuOf = (pid) => {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1].split(' ');
  return (Number(fields[11]) + Number(fields[12])) / 100;
};

function frame(text) {
  const body = Buffer.from(text);
  const mask = randomBytes(4);
  const head = body.length < 126 ? Buffer.from([0x81, 0x80 | body.length]) : Buffer.from([0x81, 0xfe, body.length >> 8, body.length & 255]);
  return Buffer.concat([head, mask, body.map((byte, at) => byte ^ mask[at % 4])]);
}

/** A client that subscribes as the page does, takes everything and throws it away. */
function startClient(world, cookie, subscriptions) {
  return new Promise((done, failed) => {
    const socket = connect(world.apiPort, '127.0.0.1', () => {
      socket.write(`GET /ws HTTP/1.1\r\nHost: 127.0.0.1:${world.apiPort}\r\nOrigin: ${world.direct}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: ${randomBytes(16).toString('base64')}\r\nCookie: ${cookie}\r\n\r\n`);
    });
    socket.once('error', failed);
    socket.once('data', (chunk) => {
      if (!String(chunk).startsWith('HTTP/1.1 101')) {
        failed(new Error(String(chunk).slice(0, 200)));
        return;
      }
      for (const text of subscriptions) socket.write(frame(text));
      socket.resume();
      done(socket);
    });
  });
}

async function costOfClients(world, cookie, page) {
  const pid = world.server.child.pid;
  const seconds = 30;
  const over = async (work) => {
    const begin = cpuOf(pid);
    await work();
    return (100 * (cpuOf(pid) - begin)) / seconds;
  };
  const without = await over(() => pause(seconds * 1000));
  const sockets = [];
  for (let at = 0; at < clients; at += 1) sockets.push(await startClient(world, cookie, page.sent));
  const perClient = page.asked.length / page.seconds;
  const withThem = await over(async () => {
    const end = Date.now() + seconds * 1000;
    let asked = 0;
    const begin = Date.now();
    while (Date.now() < end) {
      const due = ((Date.now() - begin) / 1000) * perClient * clients;
      while (asked < due && page.asked.length > 0) {
        const path = page.asked[asked % page.asked.length];
        asked += 1;
        await (await fetch(`${world.direct}${path}`, { headers: { Cookie: cookie } })).arrayBuffer();
      }
      await pause(50);
    }
  });
  for (const socket of sockets) socket.destroy();
  return withThem - without;
}

/** The most processor time that a task of a page took during the work, ms. */
async function processorTime(context, page, work) {
  const session = await context.newCDPSession(page);
  const events = [];
  session.on('Tracing.dataCollected', ({ value }) => events.push(...value));
  await session.send('Tracing.start', { transferMode: 'ReportEvents', traceConfig: { includedCategories: ['toplevel'] } });
  await work();
  const complete = new Promise((done) => session.once('Tracing.tracingComplete', done));
  await session.send('Tracing.end');
  await complete;
  await session.detach();
  const thread = ({ pid, tid }) => `${pid} ${tid}`;
  const pages = new Set(events.filter(({ name, args }) => name === 'thread_name' && args.name === 'CrRendererMain').map(thread));
  const tasks = events.filter((event) => event.name === 'ThreadControllerImpl::RunTask' && pages.has(thread(event)));
  return tasks.reduce((most, { tdur = 0 }) => Math.max(most, tdur), 0) / 1000;
}

/** By wheel from the first row to the last, and back. */
async function scrollThrough(page) {
  const place = () => page.evaluate(() => document.querySelector('.table-row').closest('[role=grid]').scrollTop);
  await page.locator('.table-row').first().hover();
  for (const step of [4000, -4000]) {
    for (let before = -1, now = await place(); now !== before; now = await place()) {
      before = now;
      for (let at = 0; at < 5; at += 1) {
        await page.mouse.wheel(0, step / 5);
        await pause(30);
      }
    }
  }
}

/** As a person types: what narrows, what finds nothing, and away with it. */
async function typeFilter(page) {
  await page.keyboard.press('f');
  for (const text of ['addon:snmp-system sw-000', 'state:down interval>10s']) {
    await page.keyboard.type(text, { delay: 60 });
    await pause(500);
    for (let at = 0; at < text.length; at += 1) await page.keyboard.press('Backspace', { delay: 30 });
    await pause(500);
  }
}

const devices = Math.round(targets / 2);
const http = Math.round(devices / 5);
const world = new World({ snmp: devices - http, http, profile: 'calm', interval: '60s', leftOut: 'none' });
let browser;
try {
  await world.start();
  await world.ensureAdmin();
  // Not every device has as many targets as most.
  await until('nearly every target to have answered', async () => {
    const { columns } = await world.api('GET', 'api/fleet');
    const answered = columns.state.filter((state) => state !== 'unknown').length;
    return columns.state.length >= targets * 0.9 && answered > columns.state.length * 0.99;
  }, 300_000);
  browser = await launch();
  const visit = new Visit(world, browser, {});
  const first = await visit.as(kAdmin, '#/');
  const state = await first.context().storageState();
  const cookie = state.cookies.map((one) => `${one.name}=${one.value}`).join('; ');
  await visit.close();
  console.log(`${targets} targets, Chromium ${browser.version()}, ${rounds} rounds, medians`);

  const overview = await firstPaint(visit, browser, state, '#/', '.overview-count');
  tell('overview: first useful paint', overview.time, 'ms', 1000);
  const fleet = await firstPaint(visit, browser, state, '#/fleet', '.table-row');
  tell('fleet: first useful paint, with rows', fleet.time, 'ms', 1000);
  tell('first load of the overview, compressed, without data', overview.bytes / 1000, 'kB', 200);

  const seconds = 40;
  const pages = [];
  const target = '#/targets/snmp-interfaces%3A%3Asw-00002';
  for (const [name, hash] of [['overview', '#/'], ['fleet', '#/fleet'], ['target', target], ['scheduler', '#/scheduler'], ['incidents', '#/incidents']]) {
    const page = { ...(await idle(browser, state, world, hash, seconds)), seconds };
    pages.push(page);
    tell(`${name}: bytes of an idle page, both ways`, page.rate / 1000, 'kB/s', 5);
    console.log(`    ${page.causes}`);
  }
  tell(`${clients} open overviews cost the server`, await costOfClients(world, cookie, pages[0]), '% of core', 10);

  // The longest of what holds up the page: a thousand changes at once, by disabling targets, seen by a page with all
  // rows; and what a person does with these rows.
  const context = await browser.newContext({ viewport: { width: 1360, height: 860 }, storageState: state });
  await context.addInitScript(watchPaint, '.table-row');
  const open = async (hash, shown) => {
    const page = await context.newPage();
    await page.goto(`${world.url}/${hash}`);
    await page.locator(shown).first().waitFor();
    await pause(6000);
    return page;
  };
  // As a visitor feels it; what the processor did of it tells whether the page or a busy machine is to blame.
  const tellLongest = async (what, page, work) => {
    await page.evaluate(() => (globalThis.watched.tasks.length = 0));
    const own = await processorTime(context, page, async () => {
      await work();
      // An entry comes after its task.
      await pause(500);
    });
    tell(what, Math.max(0, ...(await page.evaluate(() => globalThis.watched.tasks))), 'ms', 50);
    console.log(`    the longest on the processor: ${own.toFixed(0)} ms`);
  };
  for (const [name, hash, shown] of [['fleet', '#/fleet', '.table-row'], ['overview', '#/', '.overview-count']]) {
    const page = await open(hash, shown);
    const { columns } = await world.api('GET', 'api/fleet');
    const keys = columns.key.slice(0, 1000);
    await tellLongest(`${name}: longest task in two bursts of ${keys.length} changes`, page, async () => {
      for (const enabled of [false, true]) {
        await world.api('POST', 'api/targets/bulk', { operations: keys.map((key) => ({ op: enabled ? 'enable' : 'disable', key })) });
        await pause(5000);
      }
    });
    await page.close();
  }
  const page = await open('#/fleet', '.table-row');
  await tellLongest('fleet: longest task while it is scrolled', page, () => scrollThrough(page));
  await tellLongest('fleet: longest task while its filter is typed', page, () => typeFilter(page));
  await page.close();
  await context.close();
} finally {
  await browser?.close();
  await world.remove();
}
console.log(`${missed} goals missed`);
process.exit(missed > 0 ? 1 : 0);
