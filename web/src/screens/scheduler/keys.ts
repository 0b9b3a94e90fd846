// Small words about tasks. Pure.

export function words(name: string): string {
  return name.replaceAll('_', ' ');
}
