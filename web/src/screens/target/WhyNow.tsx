// "Why now?": gate by gate, and how its interval came about. Asked again every few seconds; what is
// counted down goes on in between.
import { createSignal, For, Show } from 'solid-js';
import type { JSX } from 'solid-js';
import { api, path } from '../../api/client';
import { Icon, Loaded, Time } from '../../design';
import { tick } from '../../logic/clock';
import { count, duration, percent } from '../../logic/format';
import { fetched } from '../../parts/fetched';
import type { TaskRow } from '../../parts/model';
import { SpanChoice } from '../../parts/StateStrip';
import { decidingGate, gateSentence, headline, howOften, intervalSentences, kGateQuestions } from './why';
import type { Explanation } from './why';

export function useExplanation(task: () => string | undefined) {
  return fetched(task, (key, signal) => api.get<Explanation>(path`api/tasks/${key}/explain`, { signal }), {
    events: ['poll_result', 'task_state_changed'],
    concerns: (event) => event.key === task(),
    every: 5,
  });
}

export function WhyNow(props: { tasks: readonly TaskRow[] }): JSX.Element {
  const [chosen, setChosen] = createSignal<string | null>(null);
  const task = () => chosen() ?? props.tasks[0]?.key;
  const story = useExplanation(task);
  return (
    <div class="target-tab stack">
      <Show when={props.tasks.length > 1}>
        <div class="row">
          <span class="muted">It is polled in parts:</span>
          <SpanChoice label="Part" spans={props.tasks.map((one) => ({ id: one.key, label: one.key.split('#')[1] ?? 'main' }))} value={task() ?? ''} onChange={setChosen} />
        </div>
      </Show>
      <Loaded data={story.data()} problem={story.problem()} retry={story.refetch} lines={8}>
        {(now) => (<><Gates story={now()} /><Interval story={now()} /></>)}
      </Loaded>
    </div>
  );
}

function Gates(props: { story: Explanation }): JSX.Element {
  const deciding = () => decidingGate(props.story)?.gate;
  return (
    <section class="panel" aria-label="Gates">
      <div class="panel-head"><h2 aria-live="off">{headline(props.story, tick())}</h2></div>
      <ol class="why-gates">
        <For each={props.story.gates}>
          {(gate, place) => (
            <li class={`why-gate tone-${gate.open ? 'ok' : gate.gate === deciding() ? 'warn' : 'mute'}`} classList={{ decides: gate.gate === deciding() }}>
              <span class="why-mark" aria-hidden="true"><Icon name={gate.open ? 'check' : 'pause'} size={14} /></span>
              <span class="why-name">{place() + 1}. {gate.gate}<span class="seen-by-readers">{gate.open ? ' open.' : ' closed.'}</span></span>
              <span class="why-text">
                <span class="muted">{kGateQuestions[gate.gate] ?? ''}</span> {gateSentence(gate, tick())}
              </span>
            </li>
          )}
        </For>
      </ol>
    </section>
  );
}

function Interval(props: { story: Explanation }): JSX.Element {
  const now = () => props.story.interval;
  const held = () => now().limited_by === 'a parent down';
  const adaptive = () => now().policy !== 'fixed' && now().limited_by !== 'a fixed interval';
  return (
    <section class="panel" aria-label="Interval">
      <div class="panel-head"><h2>Why every {duration(now().in_force)}?</h2></div>
      <div class="panel-body stack">
        <Show when={adaptive()}>
          <ol class="why-chain" aria-label="How the interval was decided">
            <Step title="Changes" value={`${count(now().changes_per_hour, 1)} per hour`} note={`believed: ${howOften(now().changes_per_hour)}`} />
            <Step title="Weight" value={`× ${count(now().weight, 1)}`} note={`tier ${props.story.task.tier}`} />
            <Step title="Price" value={`× ${count(now().multiplier, 2)}`} note="multiplier of its pool" />
            <Step title="Wished" value={duration(now().wished)} note="by the policy" />
            <Step title="Chosen" value={duration(now().chosen)} note={now().limited_by === 'nothing' || held() ? 'within its limits' : `limited by ${now().limited_by}`} />
            <Step title="In force" value={duration(now().in_force)} note={props.story.task.failures > 0 ? 'by the failure ladder' : held() ? 'a parent is down' : now().shadow ? 'fixed: only watching' : 'until the next poll'} strong />
          </ol>
        </Show>
        <ul class="why-words"><For each={intervalSentences(props.story)}>{(sentence) => <li>{sentence}</li>}</For></ul>
        <Show when={now().pool_budget > 0}>
          <div class="why-budget" role="img" aria-label={`The pool plans ${percent(now().pool_planned / now().pool_budget, 0)} of its budget`}>
            <span class="why-budget-fill" style={{ width: `${Math.min(100, (now().pool_planned / now().pool_budget) * 100).toFixed(1)}%` }} />
          </div>
        </Show>
        <dl class="facts small">
          <dt>Policy</dt><dd>{now().policy}{now().shadow ? ', only watching' : ''}</dd>
          <dt>Data may be</dt><dd>{duration(props.story.task.bound)} old (staleness {percent(props.story.task.staleness, 0)})</dd>
          <dt>Last change</dt><dd><Time at={props.story.task.last_change} relative none="none seen" /></dd>
          <dt>Runs since the start</dt><dd>{count(props.story.attempts)}</dd>
          <dt>Place</dt><dd>{props.story.place}</dd>
        </dl>
      </div>
    </section>
  );
}

function Step(props: { title: string; value: string; note: string; strong?: boolean }): JSX.Element {
  return (
    <li class="why-step" classList={{ strong: props.strong === true }}>
      <span class="small muted">{props.title}</span>
      <strong>{props.value}</strong>
      <span class="small muted">{props.note}</span>
    </li>
  );
}
