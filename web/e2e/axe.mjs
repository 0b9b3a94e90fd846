// What people who do not see, or do not use a mouse, would stumble over.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';

const source = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** Violations of the page as lines; the page's policy allows no inline script, so it is evaluated. */
export async function violations(page, options = {}) {
  await page.evaluate(source);
  const result = await page.evaluate(
    (settings) => globalThis.axe.run(document, { runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa'], ...settings }),
    options,
  );
  return result.violations.flatMap((rule) =>
    rule.nodes.map((node) => `${rule.id} (${rule.impact}): ${node.target.join(' ')}: ${node.failureSummary?.split('\n')[1]?.trim() ?? rule.help}`),
  );
}
