// One visitor with a browser of their own for one case. Everything the page does that it should not is
// held against the case: dialogs, errors on the console, what the content policy stopped, requests to others.
import { kAdmin, kPatience } from './world.mjs';

const kMostTold = 20;

export class Visit {
  page = null;
  #heard = [];
  #contexts = [];
  #homes = new Set();
  #asking = new Map();

  constructor(world, browser, one) {
    this.world = world;
    this.welcome(world.url);
    this.browser = browser;
    // What this case provokes on purpose, as patterns of lines.
    this.expects = one.expects ?? [];
  }

  /** Pages may talk to this server too; to any other, the internet included, they may not. */
  welcome(url) {
    this.#homes.add(new URL(url).host);
  }

  #judge(url) {
    const { protocol, host } = new URL(url);
    if (protocol !== 'data:' && protocol !== 'blob:' && !this.#homes.has(host)) this.#heard.push(`asked another server: ${url}`);
  }

  /** Hears everything that pages of this context say, and whom they ask. */
  #listen(context) {
    context.on('request', (request) => this.#judge(request.url()));
    context.on('page', (page) => {
      page.on('request', (request) => this.#asking.set(request, page));
      for (const end of ['requestfinished', 'requestfailed']) page.on(end, (request) => this.#asking.delete(request));
      page.on('websocket', (socket) => this.#judge(socket.url()));
      page.on('dialog', (dialog) => {
        this.#heard.push(`a dialog opened: ${dialog.message()}`);
        void dialog.dismiss();
      });
      page.on('pageerror', (error) => this.#heard.push(`thrown: ${error.message}`));
      page.on('console', (message) => {
        if (message.type() === 'error') this.#heard.push(`console: ${message.text()} ${message.location().url}`.trim());
      });
    });
  }

  /** What the page waits for now. */
  asking() {
    return [...this.#asking].filter(([, page]) => page === this.page).map(([request]) => `waiting for ${request.url()}`);
  }

  /** A page of somebody who is not logged in; `look` are options of the browser. */
  async stranger(look = {}) {
    const context = await this.browser.newContext({ viewport: { width: 1360, height: 860 }, colorScheme: 'light', ...look });
    this.#contexts.push(context);
    await context.addInitScript(() => {
      document.addEventListener('securitypolicyviolation', (event) => console.error(`policy: ${event.violatedDirective} stopped ${event.blockedURI} ${event.sample}`));
    });
    this.#listen(context);
    const page = await context.newPage();
    page.setDefaultTimeout(kPatience / 2);
    this.page = page;
    return page;
  }

  /** The same with a login; on the screen of the hash. */
  async as(user = kAdmin, hash = '#/', look = {}) {
    if (user === kAdmin) await this.world.ensureAdmin();
    const page = await this.stranger({ ...look, storageState: await this.world.storageOf(user, this.browser) });
    await page.goto(`${this.world.url}/${hash}`);
    await page.getByRole('navigation', { name: 'Screens' }).waitFor();
    return page;
  }

  /** Goes to another screen of the same page and waits for its headline. */
  async go(hash, heading) {
    await this.page.goto(`${this.world.url}/${hash}`);
    if (heading) await this.page.getByRole('heading', { name: heading, level: 1 }).waitFor();
  }

  heard() {
    return this.#heard.filter((line) => !this.expects.some((pattern) => pattern.test(line)));
  }

  complain() {
    const heard = this.heard();
    if (heard.length > 0) throw new Error(`the page complained:\n  ${heard.slice(0, kMostTold).join('\n  ')}`);
  }

  async close() {
    for (const context of this.#contexts) await context.close().catch(() => undefined);
  }
}
