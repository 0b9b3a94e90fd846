// Texts that lie on each other, or are cut where nothing says so: what no reader would let pass.
import { settle } from './screens.mjs';

/** In the page: of what is in sight now; as lines. */
function overlaps() {
  const found = [];
  const seen = (box) => box.width > 1 && box.height > 1;
  for (const one of document.querySelectorAll('h1, h2, h3, p, td, th, dt, dd, label, button, a, [role=gridcell], [role=columnheader], [role=tab]')) {
    const style = getComputedStyle(one);
    if (style.visibility === 'hidden' || !seen(one.getBoundingClientRect())) continue;
    const told = style.textOverflow === 'ellipsis' || style.overflowX === 'auto' || style.overflowX === 'scroll' || one.closest('.seen-by-readers, canvas');
    if (!told && style.overflowX !== 'visible' && one.scrollWidth > one.clientWidth + 1) found.push(`cut: ${one.tagName} ${one.className} "${one.textContent.slice(0, 40)}"`);
  }
  // What is to be seen of a box: boxes around it may cut it.
  const shown = (box, node) => {
    let { left, top, right, bottom } = box;
    for (let around = node.parentElement; around !== null; around = around.parentElement) {
      if (getComputedStyle(around).overflowX === 'visible') continue;
      const edge = around.getBoundingClientRect();
      [left, top, right, bottom] = [Math.max(left, edge.left), Math.max(top, edge.top), Math.min(right, edge.right), Math.min(bottom, edge.bottom)];
    }
    return { left, top, right, bottom, width: right - left, height: bottom - top };
  };
  // Whether what lies at its middle hides it: a bar or a dialog with a ground of its own. Without one both are seen.
  const hidden = (box, node) => {
    const at = document.elementFromPoint(box.left + box.width / 2, box.top + box.height / 2);
    if (at === null) return true;
    if (node.parentElement.contains(at)) return false;
    for (let one = at; one !== null && !one.contains(node); one = one.parentElement) {
      if (!/^rgba\(.*, 0\)$/.test(getComputedStyle(one).backgroundColor)) return true;
    }
    return false;
  };
  // Lines of text that cross each other.
  const lines = [];
  const walk = document.createTreeWalker(document.querySelector('main') ?? document.body, NodeFilter.SHOW_TEXT);
  const range = document.createRange();
  while (walk.nextNode() && lines.length < 3000) {
    const node = walk.currentNode;
    if (node.textContent.trim() === '' || node.parentElement.closest('.seen-by-readers, svg, textarea, pre, [aria-hidden=true]')) continue;
    const own = getComputedStyle(node.parentElement);
    // Also what a closed part holds back has a place.
    if (own.visibility === 'hidden' || own.position === 'absolute' || !node.parentElement.checkVisibility()) continue;
    range.selectNodeContents(node);
    for (const whole of range.getClientRects()) {
      const box = shown(whole, node);
      if (seen(box) && !hidden(box, node)) lines.push({ node, box, text: node.textContent.trim().slice(0, 30) });
    }
  }
  for (let a = 0; a < lines.length; a += 1) {
    for (let b = a + 1; b < lines.length; b += 1) {
      if (lines[a].node === lines[b].node) continue;
      const [one, two] = [lines[a].box, lines[b].box];
      const wide = Math.min(one.right, two.right) - Math.max(one.left, two.left);
      const high = Math.min(one.bottom, two.bottom) - Math.max(one.top, two.top);
      if (wide > 3 && high > Math.min(one.height, two.height) * 0.5) found.push(`on each other: "${lines[a].text}" and "${lines[b].text}"`);
    }
  }
  return [...new Set(found)].slice(0, 10);
}

// A table of thousands of rows is no longer than its frame, so few screens have more.
const kMostScreenfuls = 20;

/** Of the whole screen, by screenfuls of what scrolls: main, or the page itself. Leaves it at its beginning. */
export async function textTrouble(visit) {
  const { page } = visit;
  const found = new Set();
  for (let at = 0; at < kMostScreenfuls; at += 1) {
    for (const line of await page.evaluate(overlaps)) found.add(line);
    const moved = await page.evaluate(() => {
      const main = document.querySelector('main');
      const scroller = main !== null && main.scrollHeight > main.clientHeight + 1 && getComputedStyle(main).overflowY !== 'visible' ? main : document.scrollingElement;
      const before = scroller.scrollTop;
      // A little of what was seen is seen again: a line that was half in sight.
      scroller.scrollTo({ top: before + scroller.clientHeight - 40, behavior: 'instant' });
      return scroller.scrollTop > before;
    });
    if (!moved) break;
    await settle(visit);
  }
  await page.evaluate(() => {
    for (const one of [document.querySelector('main'), document.scrollingElement]) one?.scrollTo({ top: 0, behavior: 'instant' });
  });
  return [...found];
}
