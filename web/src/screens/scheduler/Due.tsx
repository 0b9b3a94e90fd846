import type { JSX } from 'solid-js';
import { Time } from '../../design';
import { parseTime, tick } from '../../logic/clock';

/** In a sentence: "in 12 s", "now", "not planned". */
export function Due(props: { at: string | undefined }): JSX.Element {
  const at = () => parseTime(props.at);
  return <>{at() === null ? 'not planned' : (at() as number) <= tick() + 500 ? 'now' : <Time at={at()} relative />}</>;
}
