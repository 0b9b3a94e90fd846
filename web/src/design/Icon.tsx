// Small line icons, 16 by 16, drawn here: no font, no download.
import type { JSX } from 'solid-js';

const kPaths = {
  overview: 'M2.5 2.5h4.5v5h-4.5zM9 2.5h4.5v3h-4.5zM9 7.5h4.5v6h-4.5zM2.5 9.5h4.5v4h-4.5z',
  fleet: 'M2.5 3.5h11M2.5 8h11M2.5 12.5h11M5.5 3.5v9',
  scheduler: 'M8 2.5a5.5 5.5 0 1 0 .01 0M8 5v3.2l2.2 1.6',
  incidents: 'M8 2.2 14.2 13H1.8zM8 6.5v3.2M8 11.3v.2',
  jobs: 'M3.5 3.5h3v3h-3zM9.5 9.5h3v3h-3zM6.5 5h3a1.5 1.5 0 0 1 1.5 1.5v3',
  addons: 'M6.5 2.5h3v2.2a1.3 1.3 0 1 0 2.3 1.3h1.7v7.5h-11v-7.5h2v-1h2z',
  settings: 'M2.5 4.5h6M12 4.5h1.5M2.5 11.5h1.5M7.5 11.5h6M10.2 2.8v3.4M5.8 9.8v3.4',
  status: 'M2 8h3l1.5-4 3 8L11 8h3',
  search: 'M7 2.5a4.5 4.5 0 1 0 .01 0M10.3 10.3l3.2 3.2',
  close: 'M4 4l8 8M12 4l-8 8',
  check: 'M3 8.5l3.2 3.2L13 5',
  down: 'M4 6.2 8 10.2 12 6.2',
  right: 'M6.2 4 10.2 8 6.2 12',
  left: 'M9.8 4 5.8 8 9.8 12',
  up: 'M4 9.8 8 5.8 12 9.8',
  more: 'M3.5 8h.01M8 8h.01M12.5 8h.01',
  user: 'M8 2.5a2.7 2.7 0 1 0 .01 0M3 13.5c.4-2.8 2.4-4.2 5-4.2s4.6 1.4 5 4.2',
  columns: 'M2.5 3h11v10h-11zM6.2 3v10M9.8 3v10',
  play: 'M5 3.2 12.5 8 5 12.8z',
  pause: 'M5.2 3.5v9M10.8 3.5v9',
  silence: 'M2.5 6.2h2.2L8 3.5v9L4.7 9.8H2.5zM10.5 6.2l3.2 3.6M13.7 6.2l-3.2 3.6',
  refresh: 'M13 8a5 5 0 1 1-1.5-3.6M13 2.2v2.6h-2.6',
  plus: 'M8 3v10M3 8h10',
  warning: 'M8 2.2 14.2 13H1.8zM8 6.5v3.2M8 11.3v.2',
  info: 'M8 2.5a5.5 5.5 0 1 0 .01 0M8 7.3v3.4M8 5.2v.1',
  lock: 'M4 7.5h8v6h-8zM5.5 7.5V5.3a2.5 2.5 0 0 1 5 0v2.2',
  external: 'M9 3h4v4M13 3 7.5 8.5M11.5 9.5v3.5h-8.5v-8.5h3.5',
  copy: 'M5.5 5.5h8v8h-8zM10.5 5.5v-3h-8v8h3',
  clock: 'M8 2.5a5.5 5.5 0 1 0 .01 0M8 5v3.2l2.2 1.6',
  tree: 'M3.5 2.5v9h3M3.5 6.5h3M6.5 5h6v3h-6zM6.5 10h6v3h-6z',
  edit: 'M3 13l.6-2.6L10.7 3.3l2 2L5.6 12.4zM9.5 4.5l2 2',
  trash: 'M3 4.5h10M6.2 4.5v-2h3.6v2M4.2 4.5l.6 9h6.4l.6-9',
  download: 'M8 2.5v7.5M4.8 7 8 10.2 11.2 7M3 13.5h10',
  sun: 'M8 5.2a2.8 2.8 0 1 0 .01 0M8 1.5v1.5M8 13v1.5M1.5 8h1.5M13 8h1.5M3.4 3.4l1 1M11.6 11.6l1 1M12.6 3.4l-1 1M4.4 11.6l-1 1',
  moon: 'M12.8 9.6A5.3 5.3 0 0 1 6.4 3.2a5.3 5.3 0 1 0 6.4 6.4z',
} as const;

export type IconName = keyof typeof kPaths;

export function Icon(props: { name: IconName; size?: number; class?: string }): JSX.Element {
  return (
    <svg
      class={props.class}
      width={props.size ?? 16}
      height={props.size ?? 16}
      viewBox="0 0 16 16"
      fill="none"
      stroke="currentColor"
      stroke-width="1.5"
      stroke-linecap="round"
      stroke-linejoin="round"
      aria-hidden="true"
    >
      <path d={kPaths[props.name]} />
    </svg>
  );
}
