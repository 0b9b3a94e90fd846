import type { JSX } from 'solid-js';
import './object.css';

/** <div class="object-facts"><Fact name="Tier">high</Fact></div>: in the head of an object. */
export function Fact(props: { name: string; children: JSX.Element }): JSX.Element {
  return <div class="object-fact"><span class="muted small">{props.name}</span><span class="object-fact-value">{props.children}</span></div>;
}
