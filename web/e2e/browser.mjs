// Chromium for the end-to-end tests and for looking at pages.
import { chromium } from 'playwright-core';

export const kFlags = [
  '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking',
  '--disable-component-update', '--disable-sync',
];

export function launch() {
  return chromium.launch({ executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', headless: true, args: kFlags });
}

/** Logs in by the API, so that a page opens behind the login; name and password from the environment. */
export async function logIn(context, server) {
  const name = process.env.POLLUX_USER;
  const password = process.env.POLLUX_PASSWORD;
  if (!name || !password) return;
  const answer = await context.request.post(`${server}/api/login`, { data: { name, password } });
  if (!answer.ok()) throw new Error(`login: ${answer.status()} ${await answer.text()}`);
}

/** What the page complains about, the content policy included. */
export function complaints(page) {
  const found = [];
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') found.push(`${message.type()}: ${message.text()}`);
  });
  page.on('pageerror', (error) => found.push(`error: ${error.stack ?? error}`));
  return found;
}
