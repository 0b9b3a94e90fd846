import { createEffect, createUniqueId, Index, Show, untrack } from 'solid-js';
import type { JSX } from 'solid-js';
import { Badge } from './StateMark';
import './tabs.css';

export interface Tab {
  id: string;
  title: string;
  count?: number | undefined;
  content: () => JSX.Element;
}

/** <Tabs label="Incident" tabs={[{ id: 'tree', title: 'Affected', content: () => <Tree /> }]} now={tab()} onChange={setTab} /> */
export function Tabs(props: { label: string; tabs: readonly Tab[]; now: string; onChange: (id: string) => void }): JSX.Element {
  const base = createUniqueId();
  const now = () => props.tabs.find((tab) => tab.id === props.now) ?? props.tabs[0];
  // Where there is no room for all of them, the chosen one is in sight.
  createEffect(() => {
    const id = `${base}-${now()?.id}`;
    requestAnimationFrame(() => {
      const tab = document.getElementById(id);
      const strip = tab?.parentElement;
      if (!tab || !strip) return;
      const left = tab.offsetLeft - strip.offsetLeft;
      if (left < strip.scrollLeft || left + tab.offsetWidth > strip.scrollLeft + strip.clientWidth) strip.scrollLeft = left - 24;
    });
  });
  const keys = (event: KeyboardEvent) => {
    const step = event.key === 'ArrowRight' ? 1 : event.key === 'ArrowLeft' ? -1 : 0;
    if (step === 0) return;
    const at = props.tabs.findIndex((tab) => tab.id === now()?.id);
    const next = props.tabs[(at + step + props.tabs.length) % props.tabs.length];
    if (next === undefined) return;
    props.onChange(next.id);
    document.getElementById(`${base}-${next.id}`)?.focus();
    event.preventDefault();
  };
  return (
    <>
      <div class="tabs" role="tablist" aria-label={props.label} onKeyDown={keys}>
        {/* By place: counts that change do not make the buttons anew, and the focus stays. */}
        <Index each={props.tabs}>
          {(tab) => (
            <button
              type="button"
              class="tab"
              role="tab"
              id={`${base}-${tab().id}`}
              aria-selected={tab().id === now()?.id}
              aria-controls={`${base}-panel`}
              tabindex={tab().id === now()?.id ? 0 : -1}
              onClick={() => props.onChange(tab().id)}
            >
              {tab().title}
              <Show when={tab().count !== undefined}><Badge>{tab().count}</Badge></Show>
            </button>
          )}
        </Index>
      </div>
      <div role="tabpanel" id={`${base}-panel`} aria-labelledby={`${base}-${now()?.id}`} tabindex={-1}>
        <Show when={now()?.id} keyed>{(id) => untrack(() => props.tabs.find((tab) => tab.id === id)?.content())}</Show>
      </div>
    </>
  );
}
