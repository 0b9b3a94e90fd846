// One visitor with a browser of their own for one case. Everything the page does that it should not is
// held against the case: dialogs, errors on the console, what the content policy stopped.
import { kAdmin, kPatience } from './world.mjs';

export class Visit {
  page = null;
  #heard = [];
  #contexts = [];

  constructor(world, browser, one) {
    this.world = world;
    this.browser = browser;
    // What this case provokes on purpose, as patterns of lines.
    this.expects = one.expects ?? [];
  }

  /** A page of somebody who is not logged in; `look` are options of the browser. */
  async stranger(look = {}) {
    const context = await this.browser.newContext({ viewport: { width: 1360, height: 860 }, colorScheme: 'light', ...look });
    this.#contexts.push(context);
    await context.addInitScript(() => {
      document.addEventListener('securitypolicyviolation', (event) => console.error(`policy: ${event.violatedDirective} stopped ${event.blockedURI} ${event.sample}`));
    });
    const page = await context.newPage();
    page.setDefaultTimeout(kPatience / 2);
    page.on('dialog', (dialog) => {
      this.#heard.push(`a dialog opened: ${dialog.message()}`);
      void dialog.dismiss();
    });
    page.on('pageerror', (error) => this.#heard.push(`thrown: ${error.message}`));
    page.on('console', (message) => {
      if (message.type() === 'error') this.#heard.push(`console: ${message.text()} ${message.location().url}`.trim());
    });
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
    if (heard.length > 0) throw new Error(`the page complained:\n  ${heard.join('\n  ')}`);
  }

  async close() {
    for (const context of this.#contexts) await context.close().catch(() => undefined);
  }
}
