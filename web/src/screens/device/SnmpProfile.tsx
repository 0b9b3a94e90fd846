// What was learned about asking an SNMP device: how much it takes at once, and how it showed that.
import { For, Show } from 'solid-js';
import type { JSX } from 'solid-js';
import { api, path } from '../../api/client';
import { Badge, EmptyState, Loaded, StateMark, Time } from '../../design';
import { parseTime } from '../../logic/clock';
import { count } from '../../logic/format';
import { fetched } from '../../parts/fetched';

interface Size {
  now?: number;
  ceiling?: number;
  fixed?: boolean;
}

interface Profile {
  address: string;
  varbinds: Size;
  repetitions: Size;
  answer_bytes: Size;
  parallel: Size;
  bulk: string;
  bulk_fixed?: boolean;
  lies: boolean;
  largest_answer: number;
  steps_back: number;
  too_big: number;
  silences: number;
  cuts: number;
  relearned: number;
  learned_at: string;
  checked_at: string;
}

export function SnmpProfile(props: { name: string }): JSX.Element {
  const list = fetched(() => props.name, (name, signal) => api.get<{ profiles: Profile[] }>(path`api/devices/${name}/profile`, { signal }), { every: 30 });
  return (
    <Loaded data={list.data()} problem={list.problem()} retry={list.refetch} lines={5}>
      {(answer) => (
        <Show
          when={answer().profiles.length > 0}
          fallback={<EmptyState icon="search" title="Nothing is learned yet" text="Devices that are asked by SNMP show here how much they take at once. This one is asked in another way, or has not answered yet." />}
        >
          <div class="stack"><For each={answer().profiles}>{(profile) => <One profile={profile} />}</For></div>
        </Show>
      )}
    </Loaded>
  );
}

function One(props: { profile: Profile }): JSX.Element {
  const profile = () => props.profile;
  const troubles = () =>
    ([['answers too big', profile().too_big], ['silences', profile().silences], ['answers cut short', profile().cuts], ['steps back', profile().steps_back], ['learned anew', profile().relearned]] as const).filter(([, times]) => times > 0);
  return (
    <section class="panel" aria-label={`SNMP profile of ${profile().address}`}>
      <div class="panel-head"><h2 class="mono">{profile().address}</h2><Show when={profile().lies}><StateMark state="warning" word="its bulk answers differ from its single ones" /></Show></div>
      <div class="panel-body">
        <dl class="facts">
          <dt>Values in a request</dt><dd><SizeText size={profile().varbinds} unit="values" /></dd>
          <dt>Rows in a bulk answer</dt><dd><SizeText size={profile().repetitions} unit="rows" /></dd>
          <dt>Size of an answer</dt><dd><SizeText size={profile().answer_bytes} unit="bytes" /> <span class="muted">largest so far {count(profile().largest_answer)} bytes</span></dd>
          <dt>Requests at once</dt><dd><SizeText size={profile().parallel} unit="requests" /></dd>
          <dt>Bulk requests</dt><dd>{profile().bulk}<Show when={profile().bulk_fixed !== undefined}> <Badge tone="info">decided in the fleet</Badge></Show></dd>
          <dt>What went wrong</dt><dd>{troubles().length === 0 ? 'nothing' : troubles().map(([what, times]) => `${count(times)} ${what}`).join(', ')}</dd>
          <dt>Learned</dt><dd><When at={profile().learned_at} /></dd>
          <dt>Bulk checked against single</dt><dd><When at={profile().checked_at} /></dd>
        </dl>
      </div>
    </section>
  );
}

function SizeText(props: { size: Size; unit: string }): JSX.Element {
  return (
    <>
      {props.size.now === undefined ? 'not limited' : `${count(props.size.now)} ${props.unit}`}
      <Show when={props.size.fixed}> <Badge tone="info">decided in the fleet</Badge></Show>
      <Show when={props.size.ceiling !== undefined}> <span class="muted">fails from {count(props.size.ceiling)} {props.unit}</span></Show>
    </>
  );
}

function When(props: { at: string }): JSX.Element {
  return <Show when={(parseTime(props.at) ?? 0) > 0} fallback="not yet"><Time at={props.at} relative /></Show>;
}
