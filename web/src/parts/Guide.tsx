// What somebody sees who has nothing yet: the way to the first device on the screen.
import type { JSX } from 'solid-js';
import { Button } from '../design';
import { whyNot } from '../state/session';
import { openStart } from '../state/start';
import './guide.css';

export function Guide(): JSX.Element {
  return (
    <div class="page start-guide">
      <div class="stack">
        <h1>Nothing is watched yet</h1>
        <p class="muted">Three ways to begin. Whatever you choose, it is polled within seconds and appears here by itself.</p>
      </div>
      <ol class="start-steps">
        <li>
          <h2>Add one device</h2>
          <p class="muted">An address is enough: it is pinged at once, and you see whether it answers.</p>
          <div><Button kind="primary" icon="plus" disabledReason={whyNot('manage')} onClick={() => openStart('add')}>Add a device</Button></div>
        </li>
        <li>
          <h2>Let Pollux look for devices</h2>
          <p class="muted">It sweeps a network and proposes what it finds; nothing is added before you agree.</p>
          <div><Button icon="search" disabledReason={whyNot('operate')} onClick={() => openStart('discover')}>Look for devices</Button></div>
        </li>
        <li>
          <h2>Bring a file</h2>
          <p class="muted">A fleet in YAML, checked whole before anything changes. Files of Prometheus, Nagios and others can be imported.</p>
          <div><code>pollux apply fleet.yaml</code></div>
        </li>
      </ol>
    </div>
  );
}
