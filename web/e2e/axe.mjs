// What people who do not see, or do not use a mouse, would stumble over.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';

const source = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const kRules = { runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa'] };
// In the dark only colours differ.
const kContrast = { runOnly: { type: 'rule', values: ['color-contrast'] } };

async function violations(page, inside, options) {
  // Once for each document; the page's policy allows no inline script, so it is evaluated.
  if (!(await page.evaluate(() => globalThis.axe !== undefined))) await page.evaluate(source);
  const result = await page.evaluate(
    ([within, settings]) => globalThis.axe.run(within ?? document, { resultTypes: ['violations'], ...settings }),
    [inside, options],
  );
  return result.violations
    .filter((rule) => ['serious', 'critical'].includes(rule.impact))
    .flatMap((rule) => rule.nodes.map((node) => `${rule.id} (${rule.impact}): ${node.target.join(' ')}: ${node.failureSummary?.split('\n')[1]?.trim() ?? rule.help}`));
}

/** What is serious or critical in the light, and what has too little contrast in the dark: of the page, or of what is `inside`. */
export async function barriers(page, calm, inside = null) {
  const light = await violations(page, inside, kRules);
  await page.emulateMedia({ colorScheme: 'dark' });
  await calm();
  const dark = await violations(page, inside, kContrast);
  await page.emulateMedia({ colorScheme: 'light' });
  return [...light, ...dark.map((line) => `in the dark: ${line}`)];
}
