// A manifest from nothing: written or pasted, checked while one types, then stored.
import type { JSX } from 'solid-js';
import { href, navigate } from '../../app/router';
import ManifestEditor from './ManifestEditor';
import { kStarter } from './model';
import './addons.css';

export default function NewAddon(): JSX.Element {
  return (
    <div class="page addons-one">
      <nav class="small" aria-label="Where you are"><a href={href('/addons')}>Addons</a></nav>
      <div class="page-head"><h1>New addon</h1></div>
      <ManifestEditor name={null} manifest={kStarter} onSaved={(name) => navigate(href('/addons/:name', { name }))} />
    </div>
  );
}
