import type { JSX } from 'solid-js';
import type { Tone } from './StateMark';
import './small.css';

/** <Bar value={41} max={100} text="41 %" title="cpu" />; the tone follows the share unless given. */
export function Bar(props: { value: number; max: number; text: string; title?: string; tone?: Tone }): JSX.Element {
  const share = () => (props.max > 0 ? Math.min(1, Math.max(0, props.value / props.max)) : 0);
  const tone = () => props.tone ?? (share() >= 0.95 ? 'bad' : share() >= 0.85 ? 'warn' : 'info');
  return (
    <span class={`bar tone-${tone()}`} title={props.title}>
      <span class="bar-fill" style={{ width: `${(share() * 100).toFixed(1)}%` }} />
      <span class="bar-text">{props.text}</span>
    </span>
  );
}
