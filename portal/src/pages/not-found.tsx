import { href } from '../router.ts';
import { Page } from '../ui/page.tsx';

export function NotFound() {
  return (
    <Page title="There is no such page">
      <div class="card">
        <p>
          The address is wrong, or the page moved. <a href={href('/')}>Go to the home page</a>
        </p>
      </div>
    </Page>
  );
}
