/** The pages of the portal start here. */
import { render } from 'preact';
import { App } from './app.tsx';
import { readBegun } from './fresh.ts';
import { followLinks } from './router.ts';
import { applyTheme } from './theme.ts';

applyTheme();
readBegun();
followLinks();
const root = document.getElementById('app');
if (root) render(<App />, root);
