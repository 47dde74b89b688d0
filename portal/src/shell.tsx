/** The frame of every page: menu, account, person, and the dialogs that any page may need. */
import { useEffect, useLayoutEffect, useState } from 'preact/hooks';
import { signInPaths } from '../../service/contract/operations.ts';
import { sessionEnded } from './api/call.ts';
import { useAction } from './api/hooks.ts';
import { keepTyped, signInAddress, signInAfresh, waiting } from './kept.ts';
import { OperatorSearch, SearchButton, useOperatorPages } from './operator-pages.tsx';
import { href, match, scrollOf, setQuery, usePlace } from './router.ts';
import { routes } from './routes.tsx';
import { Wallet } from './pages/wallet.tsx';
import { mayCall, signInError, useSession, OperatorContact } from './session.tsx';
import { Button, Icon } from './ui/basics.tsx';
import { Dialog, Page } from './ui/page.tsx';
import { Failed } from './ui/states.tsx';
import { useValue } from './value.ts';

function NotFound() {
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

/** The theme: that of the system, or the one that the person chose in this browser. */
const themes = ['system', 'dark', 'light'] as const;
type Theme = (typeof themes)[number];

const storageName = 'darkroom.theme';

function chosenTheme(): Theme {
  const stored = localStorage.getItem(storageName);
  return themes.find((theme) => theme === stored) ?? 'system';
}

export function applyTheme(theme = chosenTheme()): void {
  if (theme === 'system') localStorage.removeItem(storageName);
  else localStorage.setItem(storageName, theme);
  document.documentElement.dataset['theme'] = theme;
}

export function Shell() {
  const { me } = useSession();
  const { path } = usePlace();
  useOperatorPages();
  return (
    <div class="shell">
      <a class="skip" href="#content">
        Skip to the content
      </a>
      <Menu />
      <div class="column">
        <Banner />
        <SignInFailed />
        <main id="content" tabIndex={-1}>
          {me.account === null && !path.startsWith('/operator') ? <NoAccount /> : <CurrentPage />}
        </main>
      </div>
      <OperatorSearch />
      <SessionEnded />
      <FreshSignIn />
    </div>
  );
}

function CurrentPage() {
  const place = usePlace();
  const { path, entry } = place;
  // The earlier data of the entry is shown at once, so the page keeps its length.
  useLayoutEffect(() => scrollTo(0, scrollOf(place)), [entry]);
  const { me } = useSession();
  for (const { path: pattern, Page: Shown, needs } of routes) {
    const found = match(pattern, path);
    if (!found) continue;
    const { id = '', tab = '' } = found;
    // A tab of a page has an address of its own, and the page around it stays.
    const page = `${pattern.replace('/:tab', '')} ${id}`;
    if (mayCall(me, needs)) return <Shown key={page} id={id} tab={tab} />;
    // A role that sees only money begins with the wallet.
    return path === '/' && mayCall(me, 'listLedger') ? <Wallet key={page} /> : <NotAllowed key={path} />;
  }
  return <NotFound key={path} />;
}

function NotAllowed() {
  const { me } = useSession();
  return (
    <Page title="Not for your role">
      <div class="card">
        <p>
          You are signed in as <strong>{me.person.email}</strong>
          {me.account && `, ${me.account.role} of ${me.account.name}`}. This page needs another role.
        </p>
        <p class="dim">An owner of the account can give you another role, on the page People.</p>
        <p>
          <a href={href('/')}>Go to the home page</a>
        </p>
      </div>
    </Page>
  );
}

function NoAccount() {
  const { me } = useSession();
  return (
    <Page title="You belong to no account yet">
      <div class="card">
        <p>
          You are signed in as <strong>{me.person.email}</strong>. Ask an owner of your account, or the
          operator of this service, to invite this address. Then sign in again.
        </p>
        <p class="text">
          <OperatorContact />
        </p>
        {me.is_operator && (
          <p>
            <a href={href('/operator')}>Go to the operator’s pages</a>
          </p>
        )}
      </div>
    </Page>
  );
}

/** The group of pages to which the reference page of the API belongs. That page is not one of this app. */
const developers = 'Developers';

function Menu() {
  const { me } = useSession();
  const { path } = usePlace();
  const [isOpen, setOpen] = useState(false);
  useEffect(() => setOpen(false), [path]);
  const shown = routes.filter(({ needs }) => mayCall(me, needs));
  const groups = [...new Set(shown.flatMap(({ menu }) => (menu ? [menu.group] : [])))];
  return (
    <header class={isOpen ? 'menu open' : 'menu'}>
      <div class="bar">
        <a class="brand" href={href('/')}>
          Darkroom
        </a>
        <button
          type="button"
          class="quiet toggle"
          aria-expanded={isOpen}
          aria-controls="menu"
          onClick={() => setOpen(!isOpen)}
        >
          <Icon name="menu" />
          Menu
        </button>
      </div>
      <div id="menu" class="inner">
        <AccountSwitch />
        <SearchButton />
        <nav aria-label="Portal">
          {groups.map((group) => (
            <div key={group} class="group">
              {group !== '' && <p id={`group-${group}`}>{group}</p>}
              <ul {...(group !== '' && { 'aria-labelledby': `group-${group}` })}>
                {shown.map(({ path: target, menu }) =>
                  menu?.group !== group ? null : (
                    <li key={target}>
                      <a
                        href={href(target)}
                        {...(isCurrent(target, path) && { 'aria-current': 'page' as const })}
                      >
                        <Icon name={menu.icon} />
                        {menu.name}
                      </a>
                    </li>
                  ),
                )}
                {group === developers && (
                  <li>
                    <a href={href('/reference')}>
                      <Icon name="book" />
                      API reference
                    </a>
                  </li>
                )}
              </ul>
            </div>
          ))}
        </nav>
        <PersonBox />
      </div>
    </header>
  );
}

const isCurrent = (target: string, path: string): boolean =>
  target === '/' || target === '/operator'
    ? path === target
    : path === target || path.startsWith(`${target}/`);

function AccountSwitch() {
  const { me } = useSession();
  const change = useAction('switchAccount', () => {
    // Everything on the page belongs to the other account.
    location.assign(href('/'));
  });
  if (me.account === null && me.accounts.length === 0) return null;
  if (me.account !== null && me.accounts.length < 2) return <p class="account-name">{me.account.name}</p>;
  return (
    <div class="account-switch">
      <label class="hidden" for="account">
        Account
      </label>
      <select
        id="account"
        value={me.account?.id ?? ''}
        disabled={change.isBusy}
        onChange={(event) => change.run({ body: { account: event.currentTarget.value } })}
      >
        {me.account === null && <option value="">Choose an account</option>}
        {me.accounts.map(({ id, name, role }) => (
          <option key={id} value={id}>
            {name} ({role})
          </option>
        ))}
      </select>
      {change.error && <Failed error={change.error} />}
    </div>
  );
}

function PersonBox() {
  const { me } = useSession();
  const [theme, setTheme] = useState<Theme>(chosenTheme);
  return (
    <div class="person">
      <p class="email" title={me.person.email}>
        {me.person.email}
      </p>
      <p class="dim">
        {[me.account?.role, me.is_operator && 'operator']
          .filter((word) => typeof word === 'string')
          .join(' · ')}
      </p>
      <div class="row">
        <label class="hidden" for="theme">
          Theme
        </label>
        <select
          id="theme"
          class="small"
          value={theme}
          onChange={(event) => {
            const chosen = themes.find((one) => one === event.currentTarget.value) ?? 'system';
            setTheme(chosen);
            applyTheme(chosen);
          }}
        >
          <option value="system">Auto</option>
          <option value="dark">Dark</option>
          <option value="light">Light</option>
        </select>
        <form method="post" action={signInPaths.logout}>
          <button type="submit" class="small">
            Sign out
          </button>
        </form>
      </div>
    </div>
  );
}

/** Messages on every page. */
function Banner() {
  const { me } = useSession();
  if (me.account?.condition === 'suspended') {
    return (
      <p class="banner" role="note">
        The operator paused the API of this account. Keys, webhooks and the wallet can be managed; nothing is
        generated. <OperatorContact command="accounts set ACCOUNT --condition active" />
      </p>
    );
  }
  if (me.account?.condition === 'disabled') {
    return (
      <p class="banner" role="note">
        The operator closed this account.{' '}
        <OperatorContact command="accounts set ACCOUNT --condition active" />
      </p>
    );
  }
  if (me.service.closed_message !== null) {
    return (
      <p class="banner" role="note">
        The service takes no new creations at the moment: {me.service.closed_message}
      </p>
    );
  }
  return null;
}

/** A fresh sign-in that failed leads back here, and the older session continues. */
function SignInFailed() {
  const { query } = usePlace();
  const error = signInError(query.get('error'));
  if (error === undefined) return null;
  return (
    <p class="banner" role="alert">
      {error} <Button text="Close" class="small" onClick={() => setQuery({ error: undefined })} />
    </p>
  );
}

function SessionEnded() {
  const isEnded = useValue(sessionEnded);
  if (!isEnded) return null;
  return (
    <Dialog title="Your session ended" isLocked onClose={() => undefined}>
      <p>Sign in again. You come back to this page, with what you typed.</p>
      <div class="buttons">
        <a class="button primary" href={signInAddress()} onClick={keepTyped}>
          Sign in
        </a>
      </div>
    </Dialog>
  );
}

function FreshSignIn() {
  const begun = useValue(waiting);
  if (begun === null) return null;
  return (
    <Dialog title="Confirm that it is you" onClose={() => waiting.set(null)}>
      <p>
        You signed in more than 15 minutes ago, and this needs a fresh sign-in. What you entered is kept.
        After the sign-in you come back here, and the action is completed.
      </p>
      <div class="buttons">
        <Button text="Cancel" class="quiet" onClick={() => waiting.set(null)} />
        <Button text="Sign in and continue" class="primary" onClick={() => signInAfresh(begun)} />
      </div>
    </Dialog>
  );
}
