// The browser and system of a user agent, as far as they can be told. Pure.
const kBrowsers: readonly [RegExp, string][] = [
  [/Edg\/(\d+)/, 'Edge'],
  [/OPR\/(\d+)/, 'Opera'],
  [/Firefox\/(\d+)/, 'Firefox'],
  [/Chrome\/(\d+)/, 'Chrome'],
  [/Version\/(\d+).*Safari/, 'Safari'],
  [/curl\/(\d+)/, 'curl'],
  [/pollux\/?(\d*)/i, 'pollux command'],
];

export function agentWords(agent: string): string {
  const system = /(Windows|Android|iPhone|iPad|Mac OS X|Linux)/.exec(agent)?.[1];
  for (const [pattern, name] of kBrowsers) {
    const found = pattern.exec(agent);
    if (found) return `${name}${found[1] ? ` ${found[1]}` : ''}${system ? ` on ${system}` : ''}`;
  }
  return agent === '' ? 'unknown client' : agent.slice(0, 60);
}
