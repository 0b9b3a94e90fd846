import { render } from 'solid-js/web';
import { App } from './app/App';
import './design/base.css';
import './design/theme';

render(() => <App />, document.getElementById('app') as HTMLElement);
