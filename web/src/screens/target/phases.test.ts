import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { kPhases, phaseWords } from './phases';

describe('the phases of a poll', () => {
  it('are told in words, the longest first, and left as they were', () => {
    const phases = [{ name: 'connect', seconds: 0.0012 }, { name: 'wait', seconds: 0.009 }, { name: 'read', seconds: 0.0001 }];
    expect(phaseWords(phases)).toBe('wait 9 ms, connect 1.2 ms, read 100 µs');
    expect(phases[0]?.name).toBe('connect');
    expect(phaseWords([])).toBe('');
  });
  it('have a pattern each, beside the colour', () => {
    const css = readFileSync('src/screens/target/target.css', 'utf8');
    const patterns = kPhases.map((_, place) => new RegExp(`\\.phase-${place + 1} \\{([^}]*)\\}`).exec(css)?.[1]?.match(/--pattern: ([^;]*);/)?.[1] ?? 'plain');
    expect(new Set(patterns).size).toBe(kPhases.length);
  });
});
